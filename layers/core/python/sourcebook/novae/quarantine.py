"""Quarantine: open a case with the facts for a reviewer, and announce it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

import boto3
from boto3.dynamodb.conditions import Attr
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.bucket.objects import Objects
from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.novae.messages import HeldCase
from sourcebook.novae.model import quarantine_id_for
from sourcebook.records.quarantine import QuarantineCase, QuarantineReason, ReviewStatus
from sourcebook.runs.errors import Held, error_fingerprint
from sourcebook.runs.read import RunReader
from sourcebook.runs.tasks import TaskRun
from sourcebook.settings import required
from sourcebook.table import keys
from sourcebook.table.client import Table, aws_config
from sourcebook.table.codec import Item

if TYPE_CHECKING:
    from aws_lambda_powertools import Logger
    from mypy_boto3_sns import SNSClient

_CONTEXT_LIMIT: Final = 20_000


@dataclass(frozen=True, slots=True)
class Quarantiner:
    """Opens cases.

    Attributes:
        topic_arn: gets a notice of each new case.
        logger: gets a warning when a notice could not be sent.
    """

    table: Table
    objects: Objects
    sns: SNSClient
    topic_arn: str
    logger: Logger
    clock: Clock = utc_now

    @classmethod
    def connect(cls, table: Table, objects: Objects, logger: Logger) -> Self:
        """Return one with this function's topic. Raise InvalidInput if its environment names none."""
        sns = boto3.client("sns", config=aws_config())
        return cls(table, objects, sns, required("QUARANTINE_TOPIC_ARN"), logger)

    def hold_failed_task(self, run: TaskRun, retry_input: Mapping[str, str]) -> HeldCase:
        """Open a case for what the last task of a run could not decide, as its attempt has it.

        Raises:
            InvalidInput: if no task of the run has asked for it.
        """
        attempts = RunReader(self.table).attempts(run.record, run.job_run_id)
        holding = next((attempt for attempt in reversed(attempts) if attempt.get("held")), None)
        if holding is None:
            raise InvalidInput("run", run.job_run_id, "a run one of whose attempts has `held`")
        held = Held(holding["held"]["reason_code"], holding["error_message"], holding["held"]["context"])
        subject = retry_input.get("candidate_name") or retry_input.get("nova_id") or run.correlation_id
        return self.hold(run, held, subject=subject, retry_input=retry_input)

    def hold(
        self,
        run: TaskRun,
        held: Held,
        *,
        subject: str,
        retry_input: Mapping[str, str],
        folder: str | None = None,
    ) -> HeldCase:
        """Open a case. One that is open already is counted; one that is decided is opened again.

        Args:
            run: which found it.
            held: why, and what to decide by.
            subject: the name or the id that it is about.
            retry_input: what to start the workflow with when a new try is approved; the nova and the product
                that it is about, if there are any, are in it.
            folder: where in the bucket the context goes, with a slash at its end; a place of the case's own
                when None.
        """
        now = self.clock()
        code = held.reason_code
        reason = QuarantineReason(code) if code in set(QuarantineReason) else QuarantineReason.OTHER
        case = quarantine_id_for(run.workflow_name, subject.casefold(), reason)
        moment = isoformat(now, "milliseconds")
        own_folder = f"quarantine/{run.workflow_name}/{case}/{moment.replace(':', '')}/"
        context_key = f"{own_folder if folder is None else folder}context.json"
        self.objects.write_json(
            context_key,
            {
                "workflow_name": run.workflow_name,
                "job_run_id": run.job_run_id,
                "execution_arn": run.execution_arn,
                "correlation_id": run.correlation_id,
                "subject": subject,
                "reason_code": reason.value,
                "message": str(held),
                "context": held.context,
                "quarantined_at": moment,
            },
        )
        found = QuarantineCase(
            quarantine_id=case,
            workflow_name=run.workflow_name,
            job_run_id=run.job_run_id,
            correlation_id=run.correlation_id,
            subject=subject,
            nova_id=retry_input.get("nova_id"),
            data_product_id=retry_input.get("data_product_id"),
            reason_code=reason,
            message=str(held),
            error_fingerprint=error_fingerprint(held, f"Held.{reason.value}"),
            context=held.context if len(json.dumps(held.context)) <= _CONTEXT_LIMIT else {},
            context_s3_bucket=self.objects.bucket,
            context_s3_key=context_key,
            retry_input={name: value for name, value in retry_input.items() if name != "quarantine_id"},
            timestamp=moment,
            created_at=now,
            updated_at=now,
        )
        new = self._write(found.to_item(keys.quarantined(case)))
        if new:
            self._announce(found)
        return HeldCase(quarantine_id=case, reason_code=reason.value, new=new)

    def _write(self, row: Item) -> bool:
        there = self.table.create(row)
        if there is None:
            return True
        if there["manual_review_status"] == ReviewStatus.PENDING:
            if there["job_run_id"] == row["job_run_id"]:
                return False
            same = {"job_run_id", "correlation_id", "message", "context", "context_s3_key", "updated_at"}
            if not self.table.change_if(
                Attr("manual_review_status").eq(ReviewStatus.PENDING.value),
                keys.key_of(row),
                assign={name: row[name] for name in sorted(same)},
                increment={"occurrences": 1},
            ):
                case = {"quarantine_id": row["quarantine_id"]}
                self.logger.info("quarantine_decided_meanwhile", extra=case)
            return False
        # Decided before, and met again: the decision stays in S3's versions and the log, the case opens anew.
        self.table.put(
            {**row, "created_at": there["created_at"], "occurrences": there.get("occurrences", 1) + 1},
            Attr("manual_review_status").eq(there["manual_review_status"]),
        )
        return True

    def _announce(self, case: QuarantineCase) -> None:
        notice = {
            "workflow": case.workflow_name,
            "quarantine_id": case.quarantine_id,
            "identifier": case.subject,
            "correlation_id": case.correlation_id,
            "job_run_id": case.job_run_id,
            "error_fingerprint": case.error_fingerprint,
            "reason": case.reason_code.value,
            "message": case.message,
            "next": f"GET /quarantine, then POST /quarantine/{case.quarantine_id}/review",
        }
        try:
            self.sns.publish(
                TopicArn=self.topic_arn,
                Subject=f"Sourcebook quarantine: {case.reason_code.value}",
                Message=json.dumps(notice, ensure_ascii=False),
            )
        except (ClientError, BotoCoreError) as error:
            # The case is in the table, where GET /quarantine shows it: a lost notice must not lose the run.
            self.logger.warning(
                "quarantine_not_announced",
                extra={"quarantine_id": case.quarantine_id, "reason": type(error).__name__},
            )
