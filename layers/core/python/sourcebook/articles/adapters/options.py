"""What the options of a source may be: checked when a source is declared and again when it is polled."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from sourcebook.errors import InvalidInput
from sourcebook.observations.kinds import KINDS as OBSERVATION_KINDS
from sourcebook.observations.options import read_observation_options
from sourcebook.sources.model import SourceSpec
from sourcebook.validation import first_wrong

Ticker = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.\-]{0,14}$"), AfterValidator(str.upper)]


class NewsApiOptions(BaseModel):
    """Options of a source of kind `tiingo` or `finnhub`.

    Attributes:
        tickers: what to ask for; each is a call of its own.
        window_days: how far back to ask.
        limit: articles taken from one answer, the newest first.
        secret: name or ARN of the secret in Secrets Manager that holds the API key.
        calls_per_day: calls that the provider grants in a day (UTC); None means the provider's free plan.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    tickers: tuple[Ticker, ...] = Field(min_length=1, max_length=100)
    window_days: int = Field(default=7, ge=1, le=365)
    limit: int = Field(default=50, ge=1, le=1000)
    secret: str = Field(min_length=1, max_length=512)
    calls_per_day: int | None = Field(default=None, ge=1)


OptionsT = TypeVar("OptionsT", bound=BaseModel)


def read_options(model: type[OptionsT], options: Mapping[str, object]) -> OptionsT:
    """Check the options of a source.

    Raises:
        InvalidInput: naming the first option that is wrong.
    """
    try:
        return model.model_validate(options)
    except ValidationError as error:
        raise first_wrong(error, "options", within=("options",)) from error


def check_options(spec: SourceSpec) -> SourceSpec:
    """Return a declaration whose options are right for its kind.

    Raises:
        InvalidInput: if its kind is unknown, or an option is wrong.
    """
    if spec.kind in {"tiingo", "finnhub"}:
        read_options(NewsApiOptions, spec.options)
    elif spec.kind in OBSERVATION_KINDS:
        read_observation_options(spec)
    elif spec.kind != "feed":
        known = ", ".join(("feed", "tiingo", "finnhub", *OBSERVATION_KINDS))
        raise InvalidInput("kind", spec.kind, f"one of {known}")
    elif spec.options:
        raise InvalidInput("options", dict(spec.options), "no options for a source of kind feed")
    return spec
