"""The list of all checks, in the order in which they are asked and repair."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from sourcebook.clock import Clock, utc_now
from sourcebook.errors import InvalidInput
from sourcebook.integrity.articles import (
    AliasesLeadToArticles,
    ArticlesHaveTheirMentions,
    MentionsHaveTheirArticle,
    WaitingArticlesAreListed,
)
from sourcebook.integrity.catalog import (
    BytesHaveOneOwner,
    LocatorsLeadToSpectra,
    NovaeAreFound,
    PhotometryPointsToFiles,
    ProductsBelongToOneNova,
    SpectraStandWhereTheyAreDue,
    ValidSpectraHaveTheirFile,
)
from sourcebook.integrity.decisions import MembersFollowDecisions
from sourcebook.integrity.indexes import (
    IndexesHoldWhatTheyAreFor,
    NovaeStandInTheirList,
    SourcesStandWhereTheyAreDue,
    SubjectsStandInTheirList,
)
from sourcebook.integrity.model import Check
from sourcebook.integrity.objects import FilesAreInTheBucket
from sourcebook.integrity.observations import LatestIsTheWinner, ObservationsAreFound
from sourcebook.integrity.runs import RunsEnd
from sourcebook.integrity.sentiment import CacheAgreesWithMentions, RollupsAgreeWithMentions
from sourcebook.integrity.shards import ItemsStandInTheirShards
from sourcebook.table.client import Table

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


def all_checks(table: Table, clock: Clock = utc_now, objects: S3Client | None = None) -> list[Check]:
    """Return every check, those of the bucket too if it may be asked.

    The mentions are mended before what is counted from them.
    """
    checks: list[Check] = [
        ArticlesHaveTheirMentions(table, clock),
        MentionsHaveTheirArticle(table, clock),
        AliasesLeadToArticles(table, clock),
        WaitingArticlesAreListed(table, clock),
        MembersFollowDecisions(table, clock),
        IndexesHoldWhatTheyAreFor(table),
        SourcesStandWhereTheyAreDue(table),
        SubjectsStandInTheirList(table),
        NovaeStandInTheirList(table),
        ItemsStandInTheirShards(table),
        RollupsAgreeWithMentions(table, clock),
        CacheAgreesWithMentions(table, clock),
        ObservationsAreFound(table),
        LatestIsTheWinner(table, clock),
        SpectraStandWhereTheyAreDue(table),
        ValidSpectraHaveTheirFile(table),
        BytesHaveOneOwner(table, clock),
        LocatorsLeadToSpectra(table),
        PhotometryPointsToFiles(table),
        NovaeAreFound(table, clock),
        ProductsBelongToOneNova(table),
        RunsEnd(clock),
    ]
    return [*checks, FilesAreInTheBucket(objects)] if objects is not None else checks


def chosen(checks: list[Check], names: Collection[str]) -> list[Check]:
    """Return the checks with these names; all if none is named.

    Raises:
        InvalidInput: if there is none of a name.
    """
    known = {check.name for check in checks}
    for name in names:
        if name not in known:
            raise InvalidInput("--only", name, f"one of {', '.join(sorted(known))}")
    return [check for check in checks if not names or check.name in names]
