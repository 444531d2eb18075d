"""The mistakes of the first hour: each error says what was wrong, what was expected, and what to do."""

import json
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import optuna
import pandas
import pytest
from sklearn.exceptions import NotFittedError

import infgp
from infgp import Choice, Float, InfiniteGP, Int, InvalidInputError, Optimizer, maximize
from infgp.app.cli import main
from infgp.app.spacefile import read_space
from infgp.app.workers import find_function
from infgp.optuna import InfGPSampler

SPACE = {"x": Float(0.0, 1.0), "layers": Int(1, 4), "kind": Choice(["adam", "sgd"])}
POINT = {"x": 0.5, "layers": 2, "kind": "sgd"}
LINE = {"x": Float(0.0, 1.0)}


def told(*rewards):
    """An optimizer that was told some rewards."""
    optimizer = Optimizer(LINE, seed=0)
    for k, reward in enumerate(rewards):
        optimizer.tell({"x": k / 10.0}, reward)
    return optimizer


def tell(point, value=1.0, **more):
    return Optimizer(SPACE).tell({**POINT, **point} if isinstance(point, dict) else point, value, **more)


def reward(value):
    return told().tell({"x": 0.5}, value)


def square(x):
    return x * x


async def later(x):
    return x


def one_by_one(x):
    yield x


#: What was done, and what the error must say of it.
MISTAKES = {
    "bounds in the wrong order": (lambda: Float(1.0, 0.0), "Float(low=1.0, high=0.0", "low < high"),
    "bounds as text": (lambda: Float("0", "1"), "low='0'", "finite numbers"),
    "bounds of an integer with a fraction": (lambda: Int(0.5, 3), "low=0.5", "must be integers"),
    "a log scale from zero": (lambda: Float(0.0, 1.0, log=True), "needs low > 0", "raise low or leave out log=True"),
    "a step beyond the range": (lambda: Int(1, 4, step=9), "step=9", "at most high - low"),
    "options as text": (lambda: Choice("adam"), "list of options such as ['a', 'b']", "got 'adam'"),
    "no options": (lambda: Choice([]), "no options", "give at least one"),
    "an option twice": (lambda: Choice(["a", "a"]), "equals an earlier one", "leave it out"),
    "an option that is an object": (lambda: Choice([print, len]), "print", "name it by a string"),
    "no parameters": (lambda: Optimizer({}), "non-empty mapping such as {'x': Float(0, 1)}", "got {}"),
    "a list of parameters": (lambda: Optimizer([Float(0.0, 1.0)]), "mapping such as {'x': Float(0, 1)}"),
    "a range as a pair": (lambda: Optimizer({"x": (0, 1)}), "'x' is (0, 1)", "write Float(0, 1) or Int(0, 1)"),
    "options without Choice": (lambda: Optimizer({"x": ["a", "b", "c"]}), "write Choice(['a', 'b', 'c'])"),
    "a kind without its bounds": (lambda: Optimizer({"x": Float}), "kind of parameter", "write Float(low, high)"),
    "a condition on nothing": (
        lambda: Optimizer({"x": Float(0.0, 1.0, when={"kind": "a"})}),
        "the space has no 'kind'",
        "parameters are ['x']",
    ),
    "a direction cut short": (lambda: Optimizer(LINE, "min"), "direction='min'", "Did you mean 'minimize'?"),
    "a misspelt goal": (lambda: Optimizer(LINE, goal="finall"), "'along'", "Did you mean 'final'?"),
    "a misspelt objective": (lambda: Optimizer(LINE, objective="medain"), "('cvar', q)", "Did you mean 'median'?"),
    "a quantile in per cent": (lambda: Optimizer(LINE, objective=("quantile", 10)), "0 < q < 1", "('quantile', 10)"),
    "a kernel of another library": (
        lambda: Optimizer(LINE, kernel="rbf"),
        "kernel='rbf'",
        "one of 'auto', 'learned', 'se', 'matern52', 'matern32'",
    ),
    "a misspelt treatment of outliers": (lambda: Optimizer(LINE, outliers="ingore"), "Did you mean 'ignore'?"),
    "a seed that is a generator": (lambda: Optimizer(LINE, seed=np.random.default_rng()), "seed must be an integer"),
    "a design of no points": (lambda: Optimizer(LINE, n_initial=0), "n_initial must be an integer >= 1", "got 0"),
    "a value outside the space": (lambda: tell({"x": 2.0}), "x=2.0 is outside [0.0, 1.0]", "widen the space"),
    "a value as text": (lambda: tell({"x": "0.5"}), "x='0.5' is not a finite number", "give one in [0.0, 1.0]"),
    "an integer with a fraction": (lambda: tell({"layers": 2.5}), "layers=2.5 is not an integer", "[1, 4]"),
    "an unknown option": (lambda: tell({"kind": "adamw"}), "'adamw' is not an option", "one of ['adam', 'sgd']"),
    "a misspelt name": (
        lambda: told().tell({"X": 0.5}, 1.0),
        "lacks ['x'] and has unknown ['X']",
        "Did you mean 'x' by 'X'?",
    ),
    "a point as a number": (lambda: tell(0.5), "mapping from names to values such as {'x': …, ", "got 0.5"),
    "a point as an array": (lambda: told().tell(np.array([0.5]), 1.0), "such as {'x': …}", "got array([0.5])"),
    "a reward as text": (lambda: reward("0.5"), "must be a number, or None for a failed evaluation", "got '0.5'"),
    "a reward that is true": (lambda: reward(True), "got True", "write 1.0 or 0.0"),
    "a complex reward": (lambda: reward(1j), "must be a number", "got 1j"),
    "a reward in a dict": (lambda: reward({"loss": 1.0}), "must be a number", "got {'loss': 1.0}"),
    "several rewards at once": (lambda: reward(np.ones(2)), "tell each of the values by itself, or their mean"),
    "a negative variance": (lambda: tell({}, noise_variance=-1.0), "noise_variance", "-1.0"),
    "a constraint that is text": (lambda: tell({}, constraints={"w": "heavy"}), "numbers", "none may be positive"),
    "a recommendation before any reward": (lambda: told().recommend(), "nothing to recommend", "tell at least one"),
    "a recommendation of failures": (
        lambda: told(None, np.nan).recommend(),
        "all 2 evaluations failed",
        "find out why",
    ),
    "a prediction for one point": (lambda: told(1.0).predict({"x": 0.5}), "a list", "into a list: [{'x': 0.5}]"),
    "a prediction for numbers": (lambda: told(1.0).predict([0.5]), "such as {'x': …}", "got 0.5"),
    "no points asked for": (lambda: told().ask(0), "n must be an integer >= 1", "got 0"),
    "a point that is not pending": (lambda: told().withdraw({"x": 0.5}), "{'x': 0.5} is not pending"),
    "a negative budget": (lambda: maximize(square, LINE, -5), "budget must be an integer >= 1", "got -5"),
    "a budget as text": (lambda: maximize(square, LINE, "50"), "budget must be an integer >= 1", "got '50'"),
    "a value in place of the function": (lambda: maximize(square(2), LINE, 5), "f must be a function", "got 4"),
    "a function that lacks a parameter": (
        lambda: maximize(lambda x, layers: x, SPACE, 5),
        "does not take ['kind']",
        "rename one or the other",
    ),
    "a function with a parameter too many": (
        lambda: maximize(lambda x, rate: x, LINE, 5),
        "needs ['rate']",
        "called with the parameters of the space, by name: ['x']",
    ),
    "a rule to stop that is a number": (lambda: maximize(square, LINE, 5, stop=0.1), "such as infgp.RegretBelow(0.1)"),
    "more to confirm than the budget": (lambda: maximize(square, LINE, 5, confirm=9), "less than the budget of 5"),
    "an argument of another library": (lambda: maximize(square, LINE, 5, n_jobs=4), "'n_jobs'", "use executor="),
    "a seed for an optimizer": (lambda: maximize(square, told(), 5, seed=1), "its own seed and options", "leave them"),
    "a callback that is None": (
        lambda: maximize(square, LINE, 5, callbacks=None),
        "callbacks must be",
        "got None",
    ),
    "a direction that is true": (lambda: Optimizer(LINE, direction=True), "'maximize' or 'minimize'", "got True"),
    "an objective as a list": (
        lambda: Optimizer(LINE, objective=["quantile", 0.1]),
        "a list",
        "write objective=('quantile', 0.1)",
    ),
    "a warp that is true": (lambda: Optimizer(LINE, warp=True), "'auto', 'learned', or None"),
    "a range of integers": (lambda: Optimizer({"n": range(5)}), "write Int(0, 4)"),
    "an array of options": (lambda: Optimizer({"x": np.array([1, 2, 4])}), "write Choice([1, 2, 4])"),
    "a parameter as in a TOML file": (
        lambda: Optimizer({"x": {"type": "float", "low": 0, "high": 1}}),
        "write Float(low, high)",
    ),
    "several points in one tell": (lambda: tell([POINT, POINT], [1.0, 2.0]), "several points go to tell_many"),
    "a long list as a reward": (lambda: reward(list(range(100_000))), "must be a number", "tell each of the values"),
    "a huge integer as a reward": (lambda: reward(10**5000), "more than a float can hold"),
    "a reward in a dict, returned": (lambda: maximize(lambda x: {"loss": x}, LINE, 3), "return one of its values"),
    "a value of several that is missing": (
        lambda: Optimizer(LINE, direction=["maximize"] * 2).tell({"x": 0.5}, [1.0, None]),
        "got [1.0, None]",
        "tell None in place of all of them",
    ),
    "one wrong row of many": (
        lambda: told().tell_many([{"x": 0.1}, {"x": 0.2}, {"x": 7.0}], [1.0, 2.0, 3.0]),
        "Point 2, counted from 0: x=7.0 is outside [0.0, 1.0]",
    ),
    "a column by its name": (
        lambda: told().tell_many(pandas.DataFrame({"x": [0.1], "loss": [1.0]}), "loss"),
        "write frame['loss']",
    ),
    "a row of a frame": (
        lambda: told().tell(pandas.Series({"x": 0.5, "loss": 1.0}), 1.0),
        "write row.to_dict() with the columns of the parameters alone",
    ),
    "a prediction for a frame": (
        lambda: told(1.0).predict(pandas.DataFrame({"x": [0.1]})),
        "write frame[['x']].to_dict('records')",
    ),
    "an executor that was not made": (
        lambda: maximize(square, LINE, 5, executor=ThreadPoolExecutor),
        "executor of concurrent.futures",
        "such as ThreadPoolExecutor(4)",
    ),
    "a rule to stop that was not made": (
        lambda: maximize(square, LINE, 5, stop=infgp.RegretBelow),
        "such as infgp.RegretBelow(0.1)",
    ),
    "an asynchronous function": (lambda: maximize(later, LINE, 5), "asynchronous", "asyncio.run"),
    "a generator": (lambda: maximize(one_by_one, LINE, 5), "a generator", "return in the place of yield"),
    "an optimizer with several objectives": (
        lambda: maximize(square, Optimizer(LINE, direction=["maximize"] * 2), 5),
        "infgp.maximize is for one objective, but the optimizer has 2; use ask and tell",
    ),
    "a number in place of a study": (lambda: InfGPSampler().recommend(3), "must be an Optuna study, but got 3"),
    "a search space as a list": (lambda: InfGPSampler(search_space=["x"]), "mapping from names", "got ['x']"),
    "constraints that are no function": (
        lambda: InfGPSampler(constraints_func="w"),
        "function of the trial",
        "got 'w'",
    ),
    "a picture at a number": (
        lambda: infgp.plot.reward_law(told(1.0, 2.0), 0.5),
        "such as {'x': …}",
        "got 0.5",
    ),
}


@pytest.mark.parametrize(("call", "phrases"), [(c, p) for c, *p in MISTAKES.values()], ids=list(MISTAKES))
def test_mistakes_in_python(call, phrases):
    with pytest.raises(InvalidInputError) as caught:
        call()
    message = str(caught.value)
    assert [phrase for phrase in phrases if phrase not in message] == [], message
    assert message.rstrip().endswith((".", "?"))
    assert len(message) < 400


def test_there_are_forty():
    assert len(MISTAKES) >= 40


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    two = Optimizer(LINE, direction=["maximize"] * 2)
    for call in (lambda: two.tell({"x": 0.5}, torch.ones(2)), lambda: reward(torch.ones(2))):
        with pytest.raises(InvalidInputError, match="give numbers, by its method tolist"):
            call()
    with pytest.raises(InvalidInputError, match="an array of NumPy with a row for each point goes to tell_many"):
        told().tell_many(torch.zeros(2, 1), torch.zeros(2))
    assert told(torch.tensor(1.0)).best_observed.value == 1.0


def test_a_function_that_processes_cannot_be_sent():
    with ProcessPoolExecutor(1) as executor, pytest.raises(Exception, match="pickle") as caught:
        maximize(lambda x: x, LINE, 2, executor=executor)
    assert "define it with def at the top of a module" in caught.value.__notes__[0]


@pytest.mark.parametrize("answer", [None, 0.5, "w", [None]])
def test_constraints_of_a_study_that_are_no_numbers(answer):
    study = optuna.create_study(sampler=InfGPSampler(seed=0, constraints_func=lambda trial: answer))
    with pytest.raises(InvalidInputError, match="constraints_func must return a sequence of numbers"):
        study.optimize(lambda trial: trial.suggest_float("x", 0.0, 1.0), n_trials=1)


def test_studies_in_which_nothing_can_be_recommended():
    def study(objective):
        found = optuna.create_study(sampler=InfGPSampler(seed=0))
        found.optimize(objective, n_trials=3, catch=ZeroDivisionError)
        return found

    failed = study(lambda trial: trial.suggest_float("x", 0.0, 1.0) / 0)
    with pytest.raises(InvalidInputError, match="3 trials failed and none has completed"):
        failed.sampler.recommend(failed)
    apart = study(lambda trial: trial.suggest_float(f"x{trial.number}", 0.0, 1.0))
    with pytest.raises(InvalidInputError, match="the completed trials have no parameter in common"):
        apart.sampler.recommend(apart)


def test_a_function_of_another_name_gets_a_dict():
    """That is no mistake to us, but the error comes from the user's own function, and says nothing of dicts."""
    with pytest.raises(TypeError) as caught:
        maximize(lambda y: y * y, LINE, 5)
    assert caught.value.__notes__ == [
        "The function was called with the point as one dict, as its parameter 'y' is not among ['x'], the names of the "
        "space."
    ]


def test_decorated_functions_may_get_more_than_the_space_has():
    import functools

    def with_rate(f):
        @functools.wraps(f)
        def wrapper(**point):
            return f(rate=0.1, **point)

        return wrapper

    assert len(maximize(with_rate(lambda x, rate: x * rate), LINE, 2).observations) == 2


@pytest.mark.parametrize(
    ("content", "phrases"),
    [
        ("x = ", ["is not TOML", "a line looks like rate = {"]),
        ("x = 0.5", ["'x' needs a type among float, int, choice", "but is 0.5"]),
        ("x = { type = 'flaot', low = 0, high = 1 }", ["did you mean 'float'?"]),
        ("x = { type = 'float', low = 0 }", ["'x' lacks high", "a float takes low, high"]),
        ("x = { type = 'int', low = 4, high = 1 }", ["'x': ", "low <= high"]),
        ("x = { type = 'int', min = 4, max = 1 }", ["lacks low, high and has unknown min, max"]),
        ("", ["non-empty mapping"]),
    ],
)
def test_mistakes_in_space_files(tmp_path, content, phrases):
    file = tmp_path / "space.toml"
    file.write_text(content)
    with pytest.raises(InvalidInputError) as caught:
        read_space(file)
    assert [phrase for phrase in [str(file), *phrases] if phrase not in str(caught.value)] == [], caught.value


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_space_files_of_editors_on_windows(tmp_path, end):
    file = tmp_path / "space.toml"
    text = f'x = {{ type = "float", low = 0, high = 1 }}{end}n = {{ type = "int", low = 1, high = 4 }}{end}'
    file.write_bytes(text.encode("utf-8-sig"))
    assert read_space(file).names == ("x", "n")
    file.write_bytes(text.encode("utf-16"))
    with pytest.raises(InvalidInputError, match="is not written in UTF-8, as TOML is; save it anew"):
        read_space(file)


@pytest.mark.parametrize("content", ["junk", "", 'x = { type = "float" }'])
def test_what_is_no_database_and_no_saved_search(tmp_path, capsys, content):
    file = tmp_path / "mine.db"
    file.write_text(content)
    assert main(["recommend", str(file)]) == 1
    assert "mine.db is neither a SQLite database nor a file that Optimizer.save wrote" in capsys.readouterr().err


def test_a_saved_search_that_is_not_there(capsys):
    assert main(["confirm", "nothing.json", "--function", "train:loss"]) == 1
    assert "There is no file nothing.json" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "remedy"), [("sqr", "did you mean 'sqrt'?"), ("qqq", "check its name"), ("pi", "")])
def test_a_function_that_is_not_there(name, remedy):
    with pytest.raises(InvalidInputError, match=f"The module 'math' has no function '{name}'; ") as caught:
        find_function(f"math:{name}")
    assert remedy in str(caught.value)
    assert str(caught.value).endswith(("?", "."))


@pytest.mark.parametrize(
    ("content", "error", "phrase"),
    [
        (None, FileNotFoundError, "run.json"),
        ("{", InvalidInputError, "give a file that Optimizer.save wrote"),
        (json.dumps({"a": 1}), InvalidInputError, "Optimizer.save"),
    ],
)
def test_mistakes_with_saved_files(tmp_path, content, error, phrase):
    file = tmp_path / "run.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(error, match=phrase):
        Optimizer.load(file)


@pytest.mark.parametrize(
    ("call", "error", "phrase"),
    [
        (lambda model: model.predict([[0.5]]), NotFittedError, "Call 'fit'"),
        (lambda model: model.fit([0.5, 0.6], [1.0, 2.0]), ValueError, "Reshape your data"),
        (lambda model: model.fit([[0.5], [0.6]], [1.0]), ValueError, "inconsistent numbers of samples"),
        (lambda model: model.fit([[0.5], [0.6]], [1.0, np.nan]), ValueError, "NaN"),
    ],
)
def test_mistakes_with_the_estimator(call, error, phrase):
    with pytest.raises(error, match=phrase):
        call(InfiniteGP())


@pytest.mark.parametrize(
    ("arguments", "phrase"),
    [
        (["run", "train:loss", "--space", "space.toml", "--trails", "5"], "perhaps --trials was meant"),
        (
            ["run", "train:loss", "--space", "space.toml", "--trials", "5", "--maximize"],
            "maximizing is the default, and no option",
        ),
        (["run", "train:loss", "--space", "space.toml", "--n-trials", "5"], "--trials is meant"),
        (["optimize"], "choose from"),
        (["run", "train:loss", "--trials", "5"], "--space"),
        (["run", "train:loss", "--space", "s.toml", "--trials", "many"], "--trials: invalid int value"),
    ],
)
def test_mistakes_on_the_command_line(capsys, arguments, phrase):
    with pytest.raises(SystemExit):
        main(arguments)
    err = capsys.readouterr().err
    assert phrase in err
    assert "--help" in err


def test_misspelt_names_of_the_package():
    with pytest.raises(AttributeError, match="no attribute 'minimise'; did you mean 'minimize'"):
        _ = infgp.minimise
