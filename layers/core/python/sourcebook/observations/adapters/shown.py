"""What a visitor of a page sees: its text without what is hidden, broken where the page breaks it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from sourcebook.observations.adapters.document import BadDocument, DocumentCause
from sourcebook.observations.plain import LOWERED, RAISED, STRUCK

TEXT_LIMIT: Final = 400
"""Characters of a cell that are read; no name, term or figure is longer."""

_MOST_VISITED: Final = 2_000_000
_MOST_IN_A_CELL: Final = 2_000
_STYLES_READ: Final = 200_000
_RULES_READ: Final = 40

_NEVER_SHOWN: Final = frozenset(
    "script style template noscript head title meta link iframe object video audio canvas datalist noembed "
    "noframes rp rt desc metadata defs symbol".split()
)
_BLOCKS: Final = frozenset(
    "address article aside blockquote body br center caption col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li listing main "
    "menu nav ol optgroup option p plaintext pre search section select summary table tbody td tfoot th thead tr ul "  # noqa: E501
    "xmp".split()
)
_HIDDEN_BY_ATTRIBUTE: Final = (
    "[hidden], dialog:not([open]), [popover], "
    ".sr-only, .visually-hidden, .visuallyhidden, .screen-reader-text"
)
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_CSS_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)", re.DOTALL)
_FIGURE = re.compile(r"[.,]?\d{1,4}|%|‰")
_NOTE = re.compile(r"[0-9()*]{1,6}")
_TO_RAISED: Final = str.maketrans("0123456789()", RAISED + "⁽⁾")
_TO_LOWERED: Final = str.maketrans("0123456789", LOWERED)


@dataclass(frozen=True, slots=True)
class _State:
    """What an element hands down to what it holds."""

    hidden: bool = False
    invisible: bool = False
    kind: str = ""
    block: int = 0


@dataclass(slots=True)
class _Style:
    display: str = ""
    visibility: str = ""


@dataclass(slots=True)
class Shown:
    """A parsed page and what of it is shown.

    Attributes:
        page: the page.
    """

    page: LexborHTMLParser
    _texts: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Of each text that is shown, what is read of it and the box that it stands in."""
    _breaks: set[int] = field(default_factory=set)
    _gone: set[int] = field(default_factory=set)
    _visited: int = 0

    @classmethod
    def of(cls, page: LexborHTMLParser) -> Shown:
        """Find out what is shown."""
        shown = cls(page)
        shown._look()
        return shown

    def is_shown(self, node: LexborNode) -> bool:
        """Whether an element takes part in the page: it is not hidden with ``display: none`` or the like."""
        return node.mem_id not in self._gone

    def is_empty(self) -> bool:
        """Whether nothing at all is shown."""
        return not any(text.strip() for text, _ in self._texts.values())

    def text(self, node: LexborNode) -> str:
        """Return the text of an element, at most `TEXT_LIMIT` characters and one: a longer one is cut.

        What holds thousands of elements counts as longer: it is no name, term or figure.

        Raises:
            BadDocument: if the texts that were asked for hold each other so often that it takes too long.
        """
        pieces: list[str] = []
        length = visited = 0
        broken = False
        box = 0
        for inner in node.traverse(include_text=True):
            visited += 1
            if visited > _MOST_IN_A_CELL:
                pieces.append("…" * TEXT_LIMIT)
                break
            mem_id = inner.mem_id
            if mem_id in self._breaks:
                broken = True
                continue
            found = self._texts.get(mem_id)
            if found is None:
                continue
            text, own = found
            if pieces and (broken or own != box):
                pieces.append(" ")
            box, broken = own, False
            pieces.append(text)
            length += len(text)
            if length > 4 * TEXT_LIMIT:
                break
        self._visited += visited
        if self._visited > _MOST_VISITED:
            raise BadDocument(DocumentCause.TOO_LARGE, "the page is too large to be read: its tables nest")
        return " ".join("".join(pieces).split())[: TEXT_LIMIT + 1]

    def _look(self) -> None:
        styles = self._styles()
        hidden = {node.mem_id for node in self.page.css(_HIDDEN_BY_ATTRIBUTE)}
        hidden |= set(self._options_not_chosen())
        states: dict[int, _State] = {}
        root = self.page.root
        if root is None:
            return
        for node in root.traverse(include_text=True):
            tag, mem_id = node.tag or "", node.mem_id
            parent = node.parent
            state = states.get(parent.mem_id, _NOTHING) if parent is not None else _NOTHING
            if tag == "-text":
                if state.hidden or state.invisible or state.kind == "struck":
                    if state.kind == "struck" and not state.hidden and not state.invisible:
                        self._texts[mem_id] = (STRUCK, state.block)
                    continue
                self._texts[mem_id] = (_as_read(node.text_content or "", state.kind), state.block)
                continue
            style = styles.get(mem_id)
            display = style.display if style else ""
            gone = state.hidden or tag in _NEVER_SHOWN or mem_id in hidden or display == "none"
            if gone:
                self._gone.add(mem_id)
            invisible = state.invisible
            if style and style.visibility not in {"", "inherit", "unset"}:
                invisible = style.visibility in {"hidden", "collapse"}
            is_block = tag in _BLOCKS
            if display and display != "none":
                is_block = not display.startswith(("inline", "contents", "ruby")) or tag in {
                    "td",
                    "th",
                    "tr",
                    "br",
                }
            if is_block and not gone:
                self._breaks.add(mem_id)
            kind = _KINDS.get(tag, state.kind)
            states[mem_id] = _State(gone, invisible, kind, mem_id if is_block else state.block)

    def _options_not_chosen(self) -> Iterator[int]:
        """Yield the options of a list that does not show them: all but the one that is chosen."""
        for chooser in self.page.css("select:not([multiple])"):
            options = chooser.css("option")
            chosen = next((o for o in options if "selected" in o.attributes), options[0] if options else None)
            yield from (o.mem_id for o in options if chosen is None or o.mem_id != chosen.mem_id)

    def _styles(self) -> dict[int, _Style]:
        """Return what the page's own rules, and then each element's own style, say of being shown."""
        styles: dict[int, _Style] = {}
        for selector, declarations in self._rules():
            try:
                nodes = self.page.css(selector)
            except (SelectolaxError, ValueError):
                continue
            for node in nodes:
                _apply(styles.setdefault(node.mem_id, _Style()), declarations)
        for node in self.page.css("[style]"):
            declarations = _declarations(node.attributes.get("style") or "")
            if declarations:
                _apply(styles.setdefault(node.mem_id, _Style()), declarations)
        return styles

    def _rules(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the rules of the page's own style sheets that hide or show: selector and declarations."""
        count = 0
        sheets = "\n".join((node.text() or "") for node in self.page.css("style"))[:_STYLES_READ]
        for rule in _CSS_COMMENT.sub(" ", sheets).split("}"):
            selectors, found, body = rule.rpartition("{")
            if not found or ("display" not in body.casefold() and "visibility" not in body.casefold()):
                continue
            # Within @media and the like it depends on the visitor's screen, except where it is for screens.
            if "{" in selectors or "@" in selectors:
                continue
            declarations = _declarations(body)
            for selector in selectors.split(",") if declarations else ():
                if ":" in selector or not selector.strip() or len(selector) > 200:
                    continue
                count += 1
                if count > _RULES_READ:
                    return
                yield selector.strip(), declarations


_NOTHING: Final = _State()
_KINDS: Final = {"sup": "raised", "sub": "lowered", "s": "struck", "del": "struck", "strike": "struck"}


def _as_read(text: str, kind: str) -> str:
    if not kind or not text.strip():
        return text
    bare = "".join(text.split())
    if kind == "lowered":
        return text.translate(_TO_LOWERED) if bare.isdigit() else text
    if _NOTE.fullmatch(bare):
        return bare.translate(_TO_RAISED)
    return text if _FIGURE.fullmatch(bare) else "†"


def _declarations(css: str) -> dict[str, str]:
    """Return `display` and `visibility` of a list of declarations; what is important stays."""
    found: dict[str, str] = {}
    important: set[str] = set()
    plain = _CSS_ESCAPE.sub(_unescaped, _CSS_COMMENT.sub(" ", css[:5_000]))
    for part in plain.split(";"):
        name, _, value = part.partition(":")
        name = name.strip().casefold()
        if name not in {"display", "visibility"}:
            continue
        words = value.casefold().replace("!", " !").split()
        if name in important or not words:
            continue
        if "!important" in words or words[-1] == "important":
            important.add(name)
        found[name] = words[0]
    return found


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[2]
    code = int(match[1], 16)
    return chr(code) if 0 < code < 0x110000 else "\ufffd"


def _apply(style: _Style, declarations: dict[str, str]) -> None:
    style.display = declarations.get("display", style.display)
    style.visibility = declarations.get("visibility", style.visibility)
