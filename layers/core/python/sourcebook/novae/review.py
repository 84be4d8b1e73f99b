"""A person's decision on what was set aside."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from boto3.dynamodb.conditions import Attr
from botocore.exceptions import BotoCoreError, ClientError

from sourcebook.clock import Clock, isoformat, utc_now
from sourcebook.errors import DoesNotFit, InvalidInput, Retryable, Terminal
from sourcebook.fits.model import OVERRIDES as OVERRIDES_OF_A_FILE
from sourcebook.novae.whereabouts import find_product
from sourcebook.records.base import View
from sourcebook.records.quarantine import PENDING, REVIEWED, QuarantineCase, ReviewStatus
from sourcebook.table import keys
from sourcebook.table.client import ConditionFailed, Table
from sourcebook.table.codec import Item
from sourcebook.table.pages import Listing, Page, Partition, page_newest_first

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

DECISIONS: Final = tuple(status.value for status in ReviewStatus if status is not ReviewStatus.PENDING)
SPECTRA_WORKFLOW: Final = "acquire_and_validate_spectra"
OVERRIDES: Final = (*OVERRIDES_OF_A_FILE, "member")
"""What a reviewer may say of a spectrum's file in its place; `member` is the name of a file within a ZIP."""

Starter: TypeAlias = Callable[[str, Mapping[str, Any], str], str]
"""Starts a workflow by its name with an input and an execution name; returns the execution's ARN."""


class NotStarted(Retryable):
    """A workflow could not be started now."""


class NoSuchWorkflow(Terminal):
    """The stack has no such workflow."""


@dataclass(frozen=True, slots=True)
class WorkflowStarter:
    """Starts the state machines of this stack.

    Attributes:
        prefix: ARN of a state machine without the workflow's name at its end.
    """

    client: SFNClient
    prefix: str

    def __call__(self, workflow: str, payload: Mapping[str, Any], name: str) -> str:
        """Start a workflow; with the name of an execution that exists, return that one.

        Raises:
            NotStarted: if Step Functions is not able to now.
            NoSuchWorkflow: if it refuses.
        """
        arn = f"{self.prefix}{workflow}"
        try:
            answer = self.client.start_execution(stateMachineArn=arn, input=json.dumps(payload), name=name)
        except ClientError as error:
            code = error.response.get("Error", {}).get("Code", "")
            if code == "ExecutionAlreadyExists":
                return f"{arn.replace(':stateMachine:', ':execution:')}:{name}"
            if code in {"ThrottlingException", "ServiceUnavailable", "InternalServerError"}:
                raise NotStarted(f"{workflow}: {code}: try again later") from error
            raise NoSuchWorkflow(f"{workflow} could not be started: {code}") from error
        except BotoCoreError as error:
            raise NotStarted(f"{workflow}: Step Functions did not answer") from error
        return answer["executionArn"]


@dataclass(frozen=True, slots=True)
class ReviewDesk:
    """Lists what was set aside, and takes decisions."""

    table: Table
    start: Starter
    clock: Clock = utc_now

    def get(self, quarantine_id: str) -> View | None:
        """Return a case, or None if there is none with this id."""
        if not quarantine_id or len(quarantine_id) > 80:
            return None
        item = self.table.get(keys.quarantined(quarantine_id), consistent=True)
        return QuarantineCase.of_item(item).shown() if item else None

    def page(self, *, reviewed: bool = False, limit: int, cursor: str | None = None) -> Page[View]:
        """Return one page of the cases that wait, or of those that are decided; newest first.

        Raises:
            InvalidInput: if the cursor is not one of this list.
        """
        status = REVIEWED if reviewed else PENDING
        listing = Listing.of("quarantine", {"status": status})
        place = Partition(keys.STATUS_INDEX, "status", status, keys.QUARANTINE_SORT_KEY)

        def load(entries: list[Item]) -> list[View | None]:
            found = self.table.batch_get(map(keys.key_of, entries))
            shown = {
                case["PK"]: QuarantineCase.of_item(case).shown() for case in found if case["status"] == status
            }
            return [shown.get(entry["PK"]) for entry in entries]

        return page_newest_first(self.table, [place], listing=listing, cursor=cursor, load=load, limit=limit)

    def review(
        self,
        quarantine_id: str,
        decision: str,
        *,
        reviewer: str,
        caller: str | None = None,
        nova_id: str | None = None,
        note: str | None = None,
        overrides: Mapping[str, str] | None = None,
    ) -> View | None:
        """Record a decision, and start what follows from it.

        CLEARED_RETRY_APPROVED starts the workflow again, which then takes the decision for granted;
        CLEARED_TERMINAL closes the case, and a spectrum is then no spectrum for good; MERGED, with `nova_id`,
        makes the candidate a name of that nova.

        Args:
            quarantine_id: the case.
            decision: one of `DECISIONS`.
            reviewer: how the person calls themselves.
            caller: how AWS knows them.
            nova_id: the nova to merge into.
            note: why, for those who come after.
            overrides: with the approved new try of a spectrum: what its file does not say, or says wrongly;
                names of `OVERRIDES`.

        Returns:
            The case as it is then, with `execution_arn` when a workflow was started; None if there is none.

        Raises:
            InvalidInput: if the decision does not fit the case.
            DoesNotFit: if another decision stands.
            NotStarted: if the workflow could not be started; the decision stands: send it again.
        """
        item = self.table.get(keys.quarantined(quarantine_id), consistent=True)
        if item is None:
            return None
        self._check(item, decision, nova_id, overrides)
        given = dict(overrides) if overrides else None
        now = self.clock()
        reviewed_at = isoformat(now)
        try:
            item = self.table.update(
                keys.quarantined(quarantine_id),
                assign={
                    "manual_review_status": decision,
                    "merged_into": nova_id,
                    "overrides": given,
                    "reviewed_at": reviewed_at,
                    "reviewed_by": caller,
                    "reviewer": reviewer,
                    "review_note": note,
                    "status": REVIEWED,
                    "timestamp": isoformat(now, "milliseconds"),
                    "updated_at": reviewed_at,
                },
                condition=Attr("manual_review_status").eq("PENDING"),
            )
        except ConditionFailed as found:
            there = found.item or {}
            stands = (there.get("manual_review_status"), there.get("merged_into"), there.get("overrides"))
            if stands != (decision, nova_id, given):
                raise DoesNotFit(
                    "decision",
                    decision,
                    f"no other decision: {there.get('reviewer')} decided {there.get('manual_review_status')} "
                    f"at {there.get('reviewed_at')}",
                ) from found
            item = there
        answer = QuarantineCase.of_item(item).shown()
        if decision == "CLEARED_TERMINAL":
            if item["workflow_name"] == SPECTRA_WORKFLOW:
                self._end_spectrum(item)
            return answer
        payload = {**item.get("retry_input", {}), "quarantine_id": quarantine_id}
        if item["workflow_name"] not in {"initialize_nova", SPECTRA_WORKFLOW}:
            payload.pop("quarantine_id")
        # One decision starts one execution, however often it is sent.
        name = f"review-{quarantine_id}-{str(item['reviewed_at']).replace(':', '')}"
        return answer | {"execution_arn": self.start(item["workflow_name"], payload, name)}

    def _end_spectrum(self, item: Item) -> None:
        """Mark a spectrum as never to be tried again. It left the indexes when it was set aside."""
        about = item["retry_input"]
        found = find_product(self.table, about["nova_id"], about["provider"], about["data_product_id"])
        nova_id = about["nova_id"] if found is None else found["PK"]
        key = keys.spectrum(nova_id, about["provider"], about["data_product_id"])
        try:
            self.table.update(
                key,
                assign={
                    "validation_status": "TERMINAL_INVALID",
                    "manual_review_status": "CLEARED_TERMINAL",
                    "terminal_reason": "REVIEWED",
                    "updated_at": isoformat(self.clock()),
                },
                condition=Attr("validation_status").eq("QUARANTINED")
                & Attr("quarantine_id").eq(item["quarantine_id"]),
            )
        except ConditionFailed as found:
            if (found.item or {}).get("validation_status") == "UNVALIDATED":
                raise NotStarted("the run that set this aside has not ended yet: send it again") from found

    def _check(
        self, item: Item, decision: str, nova_id: str | None, overrides: Mapping[str, str] | None
    ) -> None:
        if decision not in DECISIONS:
            raise InvalidInput("decision", decision, f"one of {', '.join(DECISIONS)}")
        if (decision == "MERGED") != (nova_id is not None):
            raise InvalidInput("nova_id", nova_id, "the nova to merge into, with the decision MERGED only")
        if decision == "MERGED" and item["workflow_name"] != "initialize_nova":
            raise InvalidInput(
                "decision", decision, "CLEARED_RETRY_APPROVED or CLEARED_TERMINAL for this case"
            )
        if overrides:
            if decision != "CLEARED_RETRY_APPROVED" or item["workflow_name"] != SPECTRA_WORKFLOW:
                raise InvalidInput(
                    "overrides", dict(overrides), "nothing here: they go with the new try of a spectrum"
                )
            # Here, because the API would load it at each start, and seldom needs it.
            from sourcebook.fits.overrides import refuse_bad_overrides  # noqa: PLC0415

            refuse_bad_overrides(overrides, OVERRIDES)
        if nova_id is not None:
            nova = self.table.get(keys.nova(nova_id))
            if nova is None or nova.get("status") != "ACTIVE":
                raise InvalidInput("nova_id", nova_id, "an active nova; look it up with GET /novae?name=")
