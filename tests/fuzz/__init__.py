"""The hunt for hangs, crashes, raw errors, raw warnings, invalid points and hidden fallbacks.

A kind of case is a module with two functions: ``make(rng)`` draws a case as plain data (a dict), and ``play(case)``
uses the library as the case says, and raises if something happens that must not. The case's ``steps`` are a list, so
that a case that fails can be made smaller by leaving steps out.
"""
