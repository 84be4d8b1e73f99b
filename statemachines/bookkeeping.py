"""The states that every workflow has: check of the input, name and record of the run, lock, and end.

These states stand around the steps of a declaration. They write to the table themselves, with no function
between, so that a run is recorded before anything of ours is loaded (docs/decisions/0090).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sourcebook.runs.started import NAME_PREFIX
from sourcebook.schema import SCHEMA_VERSION, UUID
from sourcebook.table import keys
from statemachines import states as asl

CORRELATION_ID: Final = "[A-Za-z0-9._:-]{1,128}"
CHECK, NAME, BEGIN, ACQUIRE = "Check the input", "Name the run", "Begin the job run", "Acquire the lock"
RELEASE, FINALIZE, REPORT = "Release the lock", "Finalize the job run", "Report the failure"
REFUSE: Final = "Refuse the input"

_MORE_SECONDS: Final = 300
"""By which a lock outlasts the longest execution."""
_LONGEST_INPUT: Final = 4_000
"""Characters of an input that a run's record keeps: more than any form takes."""
_IS_HELD: Final = "DynamoDB.ConditionalCheckFailedException"
_OF_DYNAMODB: Final = asl.retried(
    "Transient errors of DynamoDB",
    *("DynamoDB.InternalServerErrorException", "DynamoDB.InternalServerError"),
    *("DynamoDB.ThrottlingException", "DynamoDB.ProvisionedThroughputExceededException"),
    *("DynamoDB.RequestLimitExceededException", "DynamoDB.SdkClientException"),
    "DynamoDB.AmazonDynamoDBException",
)
_WAITING: Final = asl.retried(
    "Another run is at work on the same identity: wait for it", _IS_HELD, rate=1.5, attempts=10
)
_MARK: Final = "\x00"
_EXECUTION: Final = "$states.context.Execution.Name"
_NOW: Final = {"S": "$now()"}
_ME: Final = {":me": {"S": "$run.job_run_id"}}


@dataclass(frozen=True, slots=True)
class Lock:
    """Keeps a workflow from running twice at once for one identity. Correctness does not depend on it.

    Attributes:
        identity: an expression over `$states.input`.
        comment: what it is for.
        bucket: the last part of the key, an expression; by default the day.
        held: how a run ends that finds it held, without waiting; by default it waits, and then fails.
    """

    identity: str
    comment: str = "One run at a time for one identity."
    bucket: str = "$substring($now(), 0, 10)"
    held: asl.Ending | None = None


def _placeholder(expression: str) -> str:
    """Return an expression as an argument of a key function; `_joined` finds it again in the key."""
    return f"{_MARK}{expression}{_MARK}"


def _joined(key: str) -> str:
    """Return the expression that joins the parts of a key with placeholders; a key without any as it is."""
    parts = key.split(_MARK)
    quoted = [part if number % 2 else f"'{part}'" for number, part in enumerate(parts)]
    return asl.jsonata(" & ".join(part for part in quoted if part != "''")) if len(parts) > 1 else key


def _key(key: keys.Key) -> asl.Fields:
    return {name: {"S": _joined(str(value))} for name, value in key.items()}


def _job_run(workflow: str) -> asl.Fields:
    return _key(
        keys.job_run(
            _placeholder("$run.record"),
            workflow,
            _placeholder("$run.started_at"),
            _placeholder("$run.job_run_id"),
        )
    )


_LOCK: Final = _key(keys.lock(_placeholder("$lock")))


def _write(
    operation: str,
    arguments: asl.Fields,
    *catches: asl.Fields,
    comment: str,
    then: str = asl.NEXT,
    waits: bool = False,
    output: asl.Json = asl.INPUT,
) -> asl.Fields:
    """Return a state that writes to the table."""
    return {
        "Type": "Task",
        "Comment": comment,
        "Resource": asl.integration(f"dynamodb:{operation}"),
        "Arguments": {"TableName": "${table_name}", **arguments},
        "TimeoutSeconds": 30,
        "Retry": [_WAITING, _OF_DYNAMODB] if waits else [_OF_DYNAMODB],
        "Catch": catches,
        "Output": output,
        "Next": then,
    }


def own_partition(workflow: str, correlation_id: str) -> str:
    """Return the expression of the partition of runs that belong to no nova."""
    return _joined(keys.workflow_partition(workflow, _placeholder(f"({correlation_id})")))[3:-3]


def run_variables(workflow: str, subject: str, correlation_id: str, record: str = "") -> asl.Fields:
    """Return a run's variables; `record` is the expression of its partition, empty for one of its own."""
    matches = f"$contains({_EXECUTION}, /^{NAME_PREFIX}{UUID}$/)"
    return {
        "run": {
            "workflow_name": workflow,
            "job_run_id": f"{matches} ? $substring({_EXECUTION}, {len(NAME_PREFIX)}) : $uuid()",
            "correlation_id": correlation_id,
            "execution_arn": "$states.context.Execution.Id",
            "started_at": "$states.context.Execution.StartTime",
            "record": record or asl.jsonata(own_partition(workflow, correlation_id)),
        },
        "subject": subject,
    }


def _item(workflow: str, **more: asl.Json) -> asl.Fields:
    """Return the record of a run that begins; `more` are the attributes of one that is refused at once."""
    of_run = asl.members("$run", "job_run_id execution_arn correlation_id")
    times = ("GSI1SK", "timestamp", "started_at", "created_at", "updated_at")
    return {
        **_job_run(workflow),
        "GSI1PK": {"S": _joined(keys.job_run_by_id(_placeholder("$run.job_run_id")))},
        "entity_type": {"S": "JobRun"},
        "schema_version": {"S": SCHEMA_VERSION},
        "workflow_name": {"S": workflow},
        **{name: {"S": value} for name, value in of_run.items()},
        "subject": {"S": "$subject"},
        # What it was started with, so that a person can start it again; an input that is longer is cut.
        "input": {"S": f"$substring($string({asl.EXECUTION_INPUT}), 0, {_LONGEST_INPUT})"},
        "status": {"S": "RUNNING"},
        **{name: {"S": "$run.started_at"} for name in times},
        **more,
    }


def states_before(
    workflow: str, check: asl.Fields, named: asl.Fields, lock: Lock | None, limit: int
) -> asl.States:
    """Return the states before the first step, `limit` being the seconds that an execution may take."""
    key = f"'{workflow}:' & {lock.identity} & ':{SCHEMA_VERSION}:' & {lock.bucket}" if lock else ""
    item = _item(workflow, **({"lock": {"S": "$lock"}} if lock else {}))
    states = {
        CHECK: check,
        NAME: asl.note(
            "The run's own id, which the API gives in the name of the execution, and the correlation id: the "
            "caller's, or else the name of this execution.",
            assign={**named, **({"lock": asl.jsonata(key)} if lock else {})},
        ),
        BEGIN: _write(
            "putItem",
            {"Item": item},
            asl.caught("Without a record the run ends", then=REPORT, ending=asl.FAILED_AS_CAUGHT),
            comment="RUNNING is written before any work, so that a crash shows.",
        ),
    }
    return {**states, ACQUIRE: _acquire(lock, limit)} if lock else states


def _acquire(lock: Lock, limit: int) -> asl.Fields:
    seconds = "$floor($millis() / 1000)"
    still_held = asl.failed(
        "LockHeld",
        "'Another run holds the lock ' & $lock & ': wait until it has ended (or, if it was aborted, half an "
        "hour), then start this again.'",
    )
    item = {
        **_LOCK,
        "entity_type": {"S": "Lock"},
        "schema_version": {"S": SCHEMA_VERSION},
        "job_run_id": {"S": "$run.job_run_id"},
        "execution_arn": {"S": "$run.execution_arn"},
        "created_at": _NOW,
        "ttl_timestamp": {"N": f"$string({seconds} + {limit + _MORE_SECONDS})"},
    }
    return _write(
        "putItem",
        {
            "Item": item,
            "ConditionExpression": "attribute_not_exists(PK) OR ttl_timestamp < :now OR job_run_id = :me",
            "ExpressionAttributeValues": {":now": {"N": f"$string({seconds})"}, **_ME},
        },
        asl.caught("Another run is at work", _IS_HELD, then=FINALIZE, ending=lock.held or still_held),
        asl.caught(
            "It could not be taken, so there is nothing to release",
            then=FINALIZE,
            ending=asl.FAILED_AS_CAUGHT,
        ),
        comment=f"{lock.comment} A lock that has expired counts as absent here, in the condition itself: "
        "DynamoDB deletes late.",
        waits=lock.held is None,
    )


def states_after(workflow: str, *, locked: bool) -> asl.States:
    """Return the states after the last step."""
    release = _write(
        "deleteItem",
        {"Key": _LOCK, "ConditionExpression": "job_run_id = :me", "ExpressionAttributeValues": _ME},
        asl.caught("It expires"),
        comment="Our own lock only. One that cannot be released expires by itself.",
    )
    return {
        **({RELEASE: release} if locked else {}),
        FINALIZE: _finalize(workflow),
        "How did it end?": asl.choice(
            "A run that a person must look at has succeeded: its outcome says so.",
            asl.when("$ending.status = 'SUCCEEDED'", then="Done"),
            otherwise=REPORT,
        ),
        "Done": {"Type": "Succeed", "Comment": "The output says what became of it."},
        REPORT: {
            "Type": "Fail",
            "Comment": "The job run has its attempts: sourcebook runs show.",
            "Error": "$ending.error_type",
            "Cause": "$ending.error_message & ' (job run ' & $run.job_run_id & ')'",
        },
    }


def _finalize(workflow: str) -> asl.Fields:
    unrecorded = asl.failed(
        "$states.errorOutput.Error",
        "'The work ended as ' & $ending.outcome & ', but its record could not be finished: ' & "
        f"{asl.caught_message()} & ' Running it again is harmless.'",
    )
    values = (
        "$merge([{':status': {'S': $ending.status}, ':outcome': {'S': $ending.outcome}, "
        "':result': {'S': $string($ending.result)}, ':now': {'S': $now()}}, $exists($ending.error_type) ? "
        "{':error_type': {'S': $ending.error_type}, ':error_message': {'S': $ending.error_message = '' ? "
        "'-' : $ending.error_message}} : {}, $exists($ending.nova_id) ? {':nova_id': {'S': "
        "$ending.nova_id}} : {}])"
    )
    update = (
        "'SET #status = :status, #outcome = :outcome, #result = :result, ended_at = :now, updated_at = :now'"
        " & ($exists($ending.error_type) ? ', error_type = :error_type, error_message = :error_message' : '')"
        " & ($exists($ending.nova_id) ? ', nova_id = :nova_id' : '')"
    )
    return _write(
        "updateItem",
        {
            "Key": _job_run(workflow),
            "UpdateExpression": asl.jsonata(update),
            "ExpressionAttributeNames": {f"#{name}": name for name in ("status", "outcome", "result")},
            "ExpressionAttributeValues": values,
        },
        asl.caught("The work is done, but not its record", then=REPORT, ending=unrecorded),
        comment="Writes status, outcome and result.",
        output="$merge([{'job_run_id': $run.job_run_id, 'correlation_id': $run.correlation_id, 'outcome': "
        "$ending.outcome}, $exists($ending.nova_id) ? {'nova_id': $ending.nova_id} : {}, $ending.result])",
    )


def states_of_failure(workflow: str, example: str) -> asl.States:
    """Return the states of a step that failed, and of a run whose input is refused."""
    given = "$states.input.correlation_id"
    is_fit = f"$type({given}) = 'string' and $contains({given}, /^{CORRELATION_ID}$/)"
    message = (
        "$refusal.field & ': ' & $substring($string($refusal.value), 0, 80) & ' is not valid; expected ' & "
        f"$refusal.expected & '. An input that is right: ' & '{example}' & '. Nothing was done.'"
    )
    return {
        asl.FAILURE: asl.note(
            "A step failed, and the run with it.",
            ending=asl.failed("$caught.Error", asl.caught_message("$caught")),
            then=asl.DONE,
        ),
        REFUSE: asl.note(
            "The run is recorded under the execution's own name, since no identity is known.",
            assign=run_variables(
                workflow,
                "$substring($string($states.input), 0, 200)",
                f"$type($states.input) = 'object' and {is_fit} ? {given} : {_EXECUTION}",
            ),
            ending=asl.failed("InvalidInput", message),
        ),
        "Record the refusal": _write(
            "putItem",
            {
                "Item": _item(
                    workflow,
                    status={"S": "FAILED"},
                    outcome={"S": "REFUSED"},
                    result={"S": "{}"},
                    error_type={"S": "$ending.error_type"},
                    error_message={"S": "$substring($ending.error_message, 0, 500)"},
                    ended_at=_NOW,
                )
            },
            asl.caught("It is refused without a record", then=REPORT),
            comment="Records why, as a run that has ended before it began.",
            then=REPORT,
        ),
    }
