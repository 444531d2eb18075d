"""What the model is: linear algebra, kernels, priors, partitions, units, states; imports nothing but errors."""
