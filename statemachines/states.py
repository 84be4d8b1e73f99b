"""States of a workflow, as functions that return them: what a declaration puts its own steps together from.

A state is a plain dictionary, the one that the console shows. A text that begins with ``$``, ``[$`` or ``($``
is an expression of JSONata; `jsonata` marks one that begins with something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from sourcebook import messages
from sourcebook.messages import TaskRequest, TaskResult, checked_parts, tag_of

Json: TypeAlias = messages.Json
Fields: TypeAlias = Mapping[str, Json]
"""A state, or a part of one such as a catch."""
Ending: TypeAlias = Mapping[str, Json]
"""How a run ended: its status, outcome and result, and the error, if it has failed."""
States: TypeAlias = Mapping[str, Fields]

NEXT: Final = "(next)"
"""Leads to the state that stands behind; from the last one, to the end of the run or of the map's item."""
DONE: Final = "(done)"
"""Leads to the end of the run: its lock is released, and its record is finished."""

INPUT: Final = "$states.input"
RESULT: Final = "$states.result.Payload"
MAP_ITEM: Final = "$states.context.Map.Item.Value"
EXECUTION_INPUT: Final = "$states.context.Execution.Input"

_EXPRESSION: Final = re.compile(r"[\[(]?\$[^{]")
_ATTEMPT: Final = (
    "$merge([$run, {'task_name': $states.context.State.Name, "
    "'attempt_no': $states.context.State.RetryCount + 1}])"
)
# With codes for backslash and slash: JSONata's own reader miscounts the brackets that follow these.
_MESSAGE: Final = (
    r"""/"errorMessage":\s*"((?:[^"\x5c\x00-\x1f]|\x5c["\x2f\x5cbfnrt]|\x5cu[0-9a-fA-F]{4}){0,2000})/"""
)


def jsonata(expression: str) -> str:
    """Return an expression as a state has it."""
    return f"{{% {expression} %}}"


def optional_members(of: str, names: str) -> dict[str, Json]:
    """Return the members of an object as `members` does, with null for those that are missing."""
    return {name: f"$exists({of}.{name}) ? {of}.{name} : null" for name in names.split()}


def members(of: str, names: str) -> dict[str, Json]:
    """Return these members of an object, each under its own name; `names` stand one after another."""
    return {name: f"{of}.{name}" for name in names.split()}


def caught_message(error: str = "$states.errorOutput", longest: int = 500) -> str:
    """Return the expression for the message of a caught error.

    A function's error has it in a JSON text, which Step Functions cuts off when it is long. Such a text must
    not be parsed as a whole: an error within a catch ends the execution at once, and its lock stays. The
    message is cut out of it, and only whole characters are parsed.
    """
    return (
        f"($c := $exists({error}.Cause) ? $string({error}.Cause) : ''; $m := $match($c, {_MESSAGE}, 1); "
        f"""$substring($exists($m) ? $parse('"' & $m[0].groups[0] & '"') : $c, 0, {longest}))"""
    )


def succeeded(outcome: str, result: Json = None, *, nova_id: str | None = None) -> Ending:
    """Return the ending of a run that has done what it is for."""
    of = {"nova_id": nova_id} if nova_id else {}
    return {"status": "SUCCEEDED", "outcome": outcome, **of, "result": {} if result is None else result}


def failed(error_type: str, message: str, result: Json = None, *, nova_id: str | None = None) -> Ending:
    """Return the ending of a run that has failed; `message` is an expression."""
    error = {"error_type": error_type, "error_message": jsonata(message)}
    return {**succeeded("FAILED", result, nova_id=nova_id), "status": "FAILED", **error}


FAILED_AS_CAUGHT: Final = failed("$states.errorOutput.Error", caught_message())


def retried(comment: str, *errors: str, rate: float = 5, attempts: int = 3) -> Fields:
    """Return the retry of these errors: by default after about 2, 10 and 30 seconds, with full jitter."""
    times = {"IntervalSeconds": 2, "BackoffRate": rate, "MaxAttempts": attempts, "MaxDelaySeconds": 30}
    return {"Comment": comment, "ErrorEquals": errors, **times, "JitterStrategy": "FULL"}


def caught(
    comment: str, *errors: str, then: str = NEXT, ending: Ending | None = None, output: Json = INPUT
) -> Fields:
    """Return the catch of these errors; of all that no earlier catch names, if none are given."""
    assigned = {"Assign": {"ending": ending}} if ending else {}
    named = errors or ("States.ALL",)
    return {"Comment": comment, "ErrorEquals": named, **assigned, "Output": output, "Next": then}


FAILURE: Final = "Note the failure"
EVERYTHING_ELSE: Final = {
    **caught("Everything else, and what the retries did not help", then=FAILURE),
    "Assign": {"caught": "$states.errorOutput"},
}

_OF_A_FUNCTION: Final = retried(
    "Retryable, as which a task raises all of its children, and transient errors of Lambda",
    "Retryable",
    *("Lambda.ServiceException", "Lambda.AWSLambdaException", "Lambda.SdkClientException"),
    *("Lambda.ClientExecutionTimeoutException", "Lambda.TooManyRequestsException", "Lambda.Unknown"),
    "Sandbox.Timedout",
)
_OF_A_START: Final = retried(
    "Errors of a function's start: a deployment updates its code first, then its layers and environment",
    *("MissingSetting", "Runtime.ImportModuleError", "Runtime.HandlerNotFound"),
    rate=2,
    attempts=6,
)
_OF_STEP_FUNCTIONS: Final = retried(
    "Transient errors of Step Functions; the name of the execution keeps it from running twice",
    *("StepFunctions.SdkClientException", "StepFunctions.ServiceUnavailableException"),
    *("StepFunctions.ThrottlingException", "StepFunctions.AWSStepFunctionsException"),
)


def integration(name: str) -> str:
    """Return the resource of an optimized integration, in whatever partition the stack is."""
    return f"arn:${{partition}}:states:::{name}"


def equals(expected: StrEnum | type[TaskResult], at: str = INPUT) -> str:
    """Return the condition that the value `at` an expression is a word, or is one of a task's results."""
    if isinstance(expected, StrEnum):
        return f"{at} = '{expected}'"
    name, value = tag_of(expected)
    return f"{at}.{name} = {repr(value) if isinstance(value, str) else str(value).lower()}"


def task(
    called: type[TaskRequest] | str,
    payload: Fields | str,
    *,
    comment: str,
    then: str = NEXT,
    seconds: int = 130,
    output: Json = RESULT,
    assign: Fields | None = None,
    ending: Ending | None = None,
    catches: Sequence[Fields] = (),
) -> Fields:
    """Return the call of a function of lambdas/, recorded as an attempt.

    Args:
        called: the class of the task's request, which names its function; or the folder in lambdas/.
        payload: the fields of the request, or an expression for all of them. The run is added.
        comment: what the step does, for the console.
        then: the state that comes next.
        seconds: after which Step Functions gives the call up; more than the function's own limit.
        output: what the next state gets, by default the task's result.
        assign: variables.
        ending: that of a run which comes to its end from here.
        catches: where errors lead; one that no catch names fails the run, or the map that the step is within.
    """
    function = called if isinstance(called, str) else called.function
    if isinstance(payload, str):
        whole: Json = f"$merge([{payload}, {{'run': {_ATTEMPT}}}])"
    else:
        whole = {**(payload if isinstance(called, str) else checked_parts(called, payload)), "run": _ATTEMPT}
    return {
        "Type": "Task",
        "Comment": comment,
        "Resource": integration("lambda:invoke"),
        "Arguments": {"FunctionName": f"${{{function}_arn}}", "Payload": whole},
        "TimeoutSeconds": seconds,
        "Retry": (_OF_A_FUNCTION, _OF_A_START),
        "Catch": catches,
        **_assigning(assign, ending),
        "Output": output,
        "Next": then,
    }


def start(
    workflow: str,
    payload: Fields,
    *,
    comment: str,
    then: str = NEXT,
    name: str = "$run.job_run_id",
    wait_seconds: int = 0,
    catches: Sequence[Fields] = (),
    output: Json = INPUT,
) -> Fields:
    """Return the start of another workflow, once: its execution has the name of this job run, or `name`.

    `workflow` is its name, or an expression of its ARN; `payload` its input besides the correlation id. With
    `wait_seconds` its end is waited for, so long. Everything else is as with `task`.
    """
    before = caught(
        "It was started before, and the answer was lost",
        *("StepFunctions.ExecutionAlreadyExistsException", "StepFunctions.ExecutionAlreadyExists"),
        "ExecutionAlreadyExists",
        then=then,
        output=output,
    )
    return {
        "Type": "Task",
        "Comment": comment,
        "Resource": integration(f"states:startExecution{'.sync:2' if wait_seconds else ''}"),
        "Arguments": {
            "StateMachineArn": workflow if workflow.startswith("$") else f"${{{workflow}_arn}}",
            "Name": name,
            "Input": {**payload, "correlation_id": "$run.correlation_id"},
        },
        "TimeoutSeconds": wait_seconds or 30,
        "Retry": (_OF_STEP_FUNCTIONS,),
        "Catch": [*([] if wait_seconds else [before]), *catches],
        "Output": output,
        "Next": then,
    }


def each(
    items: Json,
    steps: States,
    *,
    comment: str,
    then: str = NEXT,
    selector: Fields | None = None,
    at_once: Json = 0,
    assign: Fields | None = None,
    output: Json = INPUT,
) -> Fields:
    """Return a map: `steps` for each item, beginning with the first of them; 0 at once is no bound."""
    return {
        "Type": "Map",
        "Comment": comment,
        "Items": items,
        **({"MaxConcurrency": at_once} if at_once else {}),
        **({"ItemSelector": selector} if selector else {}),
        "ItemProcessor": {
            "ProcessorConfig": {"Mode": "INLINE"},
            "StartAt": next(iter(steps)),
            "States": linked(steps),
        },
        **_assigning(assign, None),
        "Output": output,
        "Next": then,
    }


def when(condition: str, *, then: str, ending: Ending | None = None) -> Fields:
    """Return one way out of a choice."""
    return {"Condition": jsonata(condition), **_assigning(None, ending), "Next": then}


def choice(comment: str, *rules: Fields, otherwise: str = NEXT) -> Fields:
    """Return a choice."""
    return {"Type": "Choice", "Comment": comment, "Choices": rules, "Default": otherwise}


def note(
    comment: str,
    *,
    then: str = NEXT,
    ending: Ending | None = None,
    assign: Fields | None = None,
    output: Json = None,
) -> Fields:
    """Return a Pass state: it sets how the run ends, or the output of a map's item."""
    given = {} if output is None else {"Output": output}
    return {"Type": "Pass", "Comment": comment, **given, **_assigning(assign, ending), "Next": then}


def linked(states: States, done: str = "") -> States:
    """Return the states with names in place of `NEXT` and `DONE`, and with expressions marked.

    `done` is the name of the state where the run's end begins, nothing within a map. An error that no
    catch of a state names fails the run; within a map it fails the map.
    """
    following = dict(zip(states, [*states][1:], strict=False))
    targets = {name: {NEXT: following.get(name, done), DONE: done} for name in states}
    whole = {name: _caught_all(state) if done else state for name, state in states.items()}
    return {name: dict(_targeted(state, targets[name])) for name, state in whole.items()}


def _caught_all(state: Fields) -> Fields:
    catches = state.get("Catch") or ()
    if state["Type"] not in {"Task", "Map"} or "States.ALL" in str(catches):
        return state
    return {**state, "Catch": [*catches, EVERYTHING_ELSE]} if isinstance(catches, Sequence) else state


def _targeted(part: Fields, ways: Mapping[str, str]) -> Iterator[tuple[str, Json]]:
    for name, value in part.items():
        match name, value:
            case (("Next" | "Default"), str()):
                target = ways.get(value, value)
                yield (name, target) if target else ("End", True)
            case ("Catch", []):
                continue
            case (("Catch" | "Choices"), [*rules]):
                yield name, [dict(_targeted(rule, ways)) for rule in rules if isinstance(rule, Mapping)]
            case (("ItemProcessor" | "Comment"), _):
                yield name, value
            case _:
                yield name, with_expressions(value)


def with_expressions(value: Json) -> Json:
    """Return a value in which every text that begins as an expression is one."""
    match value:
        case str():
            return jsonata(value) if _EXPRESSION.match(value) else value
        case Mapping():
            return {name: with_expressions(part) for name, part in value.items()}
        case Sequence():
            return [with_expressions(part) for part in value]
        case _:
            return value


def _assigning(assign: Fields | None, ending: Ending | None) -> Fields:
    assigned = {**(assign or {}), **({"ending": ending} if ending else {})}
    return {"Assign": assigned} if assigned else {}
