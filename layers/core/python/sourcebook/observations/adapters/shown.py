"""What a visitor of a page sees: its text without what is hidden, broken where the page breaks it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Flag, auto
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
    ".sr-only, .show-for-sr, .element-invisible, [class*=visually-hidden i], [class*=visuallyhidden i], "
    "[class*=screen-reader i], [class*=screenreader i]"
)
_HIDING_CLASSES: Final = ".hidden, .d-none, .hide, .is-hidden, .u-hidden"
# "hidden md:block", "d-none d-md-block": shown on a screen that is wide enough.
_SHOWN_AGAIN: Final = re.compile(
    r"(?:[a-z0-9]+:|d-(?:sm|md|lg|xl|xxl)-)(?:block|flex|grid|inline.*|table.*|contents|visible)"
)
_OF_TABLES: Final = frozenset({"table", "thead", "tbody", "tfoot", "tr", "td", "th", "html", "body"})
_HIDING: Final = frozenset(
    "display visibility opacity font-size color text-indent position left top right bottom clip clip-path "
    "width height max-width max-height overflow content-visibility transform text-decoration "
    "text-decoration-line background-clip -webkit-background-clip".split()
)
_MAY_HIDE: Final = re.compile(
    r"display|visibility|opacity|font-size|transparent|text-indent|position|clip|overflow|transform|line-through|"
    r"\\|color",
    re.IGNORECASE,
)
_CSS_MARK: Final = re.compile(r"[{}]")
_FOR_SCREENS: Final = re.compile(
    r"@media\s+(?:only\s+)?(?:screen|all)|@layer(?:\s.*)?", re.IGNORECASE | re.DOTALL
)
_IMPORTANT: Final = re.compile(r" ?!? ?important$")
_ZERO: Final = re.compile(r"(?:0+(?:\.0*)?|\.0+)(?:px|em|rem|pt|%|vw|ex|ch)?")
_TINY: Final = re.compile(r"[01]px|0(?:\.0+)?[a-z%]*")
_FAR_AWAY: Final = re.compile(r"-\d{3,}(?:\.\d+)?(?:px|em|rem|%|vw|vh|pt)")
_NO_SCALE: Final = re.compile(r"scale[xy]?\( ?0(?:\.0+)?[ ,)]")
_NO_CLIP: Final = re.compile(r"rect\((?: ?[01](?:px)?[ ,]*){4}\)")
_NO_CLIP_PATH: Final = re.compile(r"inset\( ?(?:50|100)%|circle\( ?0")
_TRANSPARENT: Final = re.compile(
    r"transparent|rgba?\([^()]*[,/] ?0(?:\.0+)?%? ?\)|#[0-9a-f]{6}00|#[0-9a-f]{3}0"
)
_CSS_COMMENT = re.compile(r"/\*.*?(?:\*/|$)", re.DOTALL)
_CSS_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})\s?|\\(.)", re.DOTALL)
# Of a figure: ",50", "% p.a.", ".50%"; the digits of "50%" may be decimals.
_FIGURE = re.compile(r"[.,]\d{1,4}|(?:[.,]\d{1,4})?[%‰][^\d]*|p\.?[am]\.?")
_NOTE = re.compile(r"[0-9()*]{1,6}[%‰]?")
_TO_RAISED: Final = str.maketrans("0123456789()", RAISED + "⁽⁾")
_TO_LOWERED: Final = str.maketrans("0123456789", LOWERED)


class _Unseen(Flag):
    """Why text that takes its place cannot be seen."""

    HIDDEN = auto()
    SIZE = auto()
    COLOUR = auto()


_SEEN: Final = _Unseen(0)


@dataclass(frozen=True, slots=True)
class _State:
    """The state that an element hands down to its children."""

    hidden: bool = False
    invisible: _Unseen = _SEEN
    kind: str = ""
    block: int = 0


@dataclass(slots=True)
class ShownPage:
    """A parsed page and what of it is shown."""

    page: LexborHTMLParser
    _texts: dict[int, tuple[str, int]] = field(default_factory=dict)
    """Of each text that is shown, what is read of it and the box that it stands in."""
    _breaks: set[int] = field(default_factory=set)
    _gone: set[int] = field(default_factory=set)
    _visited: int = 0

    def is_shown(self, node: LexborNode) -> bool:
        """Whether an element takes part in the page: it is not hidden with ``display: none`` or the like."""
        return node.mem_id not in self._gone

    def is_empty(self) -> bool:
        """Whether nothing at all is shown."""
        return not any(text.strip() for text, _ in self._texts.values())

    def text(self, node: LexborNode) -> str:
        """Return the text of an element, at most `TEXT_LIMIT` characters and one: a longer one is cut.

        What holds thousands of elements counts as longer: it is no name, term or figure. Raise BadDocument
        if the texts that were asked for hold each other so often that it takes too long.
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

    def __post_init__(self) -> None:
        """Find out what is shown."""
        styles = self._styles()
        hidden = {node.mem_id for node in self.page.css(_HIDDEN_BY_ATTRIBUTE)}
        hidden |= set(self._options_not_chosen())
        hidden |= {node.mem_id for node in self.page.css(_HIDING_CLASSES) if _hides(node)}
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
            style = styles.get(mem_id, _NO_STYLE)
            display = style.get("display", "").split(" ")[0]
            gone = state.hidden or tag in _NEVER_SHOWN or mem_id in hidden or _is_unseen(style)
            if gone:
                self._gone.add(mem_id)
            invisible = _unseen_text(style, state.invisible) if style else state.invisible
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
            if _is_struck(style):
                kind = "struck"
            states[mem_id] = _State(gone, invisible, kind, mem_id if is_block else state.block)

    def _options_not_chosen(self) -> Iterator[int]:
        """Yield the options of a list that does not show them: all but the one that is chosen."""
        for chooser in self.page.css("select:not([multiple])"):
            options = chooser.css("option")
            chosen = next((o for o in options if "selected" in o.attributes), options[0] if options else None)
            yield from (o.mem_id for o in options if chosen is None or o.mem_id != chosen.mem_id)

    def _styles(self) -> dict[int, dict[str, str]]:
        """Return what the page's own rules, and then each element's own style, say of being shown."""
        styles: dict[int, dict[str, str]] = {}
        for selector, declarations in self._rules():
            try:
                nodes = self.page.css(selector)
            except (SelectolaxError, ValueError):
                continue
            for node in nodes:
                styles.setdefault(node.mem_id, {}).update(declarations)
        for node in self.page.css("[style]"):
            declarations = _declarations(node.attributes.get("style") or "")
            if declarations:
                styles.setdefault(node.mem_id, {}).update(declarations)
        return styles

    def _rules(self) -> Iterator[tuple[str, dict[str, str]]]:
        """Yield the rules of the page's own style sheets that hide or show: selector and declarations."""
        count = 0
        sheets = "\n".join((node.text() or "") for node in self.page.css("style"))[:_STYLES_READ]
        for selectors, body in _leaves(_CSS_COMMENT.sub(" ", sheets)):
            if not _MAY_HIDE.search(body):
                continue
            declarations = _declarations(body)
            for selector in selectors.split(",") if _matters(declarations) else ():
                if ":" in selector or not selector.strip() or len(selector) > 200:
                    continue
                count += 1
                if count > _RULES_READ:
                    return
                yield selector.strip(), declarations


def _leaves(css: str) -> Iterator[tuple[str, str]]:
    """Yield selectors and body of the rules that hold for every screen."""
    preludes: list[str] = []
    at = 0
    is_leaf = False
    for mark in _CSS_MARK.finditer(css):
        text, at_mark = css[at : mark.start()], mark[0]
        if at_mark == "{":
            preludes.append(text.rpartition(";")[2].strip())
            is_leaf = True
        elif preludes:
            selectors = preludes.pop()
            # Within @media and the like it depends on the visitor's screen, except where it is for screens.
            if is_leaf and not selectors.startswith("@") and all(map(_FOR_SCREENS.fullmatch, preludes)):
                yield selectors, text
            is_leaf = False
        at = mark.end()
    if preludes and is_leaf and len(preludes) == 1 and not preludes[0].startswith("@"):
        yield preludes[0], css[at:]  # the sheet ends within its last rule


_NOTHING: Final = _State()
_NO_STYLE: Final[Mapping[str, str]] = {}
_KINDS: Final = {"sup": "raised", "sub": "lowered", "s": "struck", "del": "struck", "strike": "struck"}


def _hides(node: LexborNode) -> bool:
    """Return whether an element's classes hide it on every screen, by the names that frameworks use.

    Only within a cell: a tab whose tables are shown by a click has such a class too.
    """
    if (node.tag or "") in _OF_TABLES or node.css_first("table, tr") is not None:
        return False
    return not any(map(_SHOWN_AGAIN.fullmatch, (node.attributes.get("class") or "").split()))


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
    """Return those of a list of declarations that hide or show; what is important stays."""
    found: dict[str, str] = {}
    important: set[str] = set()
    plain = _CSS_ESCAPE.sub(_unescaped, _CSS_COMMENT.sub(" ", css[:5_000]))
    for part in plain.split(";"):
        name, _, value = part.partition(":")
        name = name.strip().casefold()
        if name not in _HIDING:
            continue
        value = " ".join(value.casefold().split())
        bare = _IMPORTANT.sub("", value)
        if name in important or not bare:
            continue
        if bare != value:
            important.add(name)
        found[name] = bare
    return found


def _is_unseen(style: Mapping[str, str]) -> bool:
    """Return whether an element and all that it holds is there and cannot be seen."""
    clipped = style.get("overflow", "").startswith(("hidden", "clip"))
    tiny = any(
        _TINY.fullmatch(style.get(name, "")) for name in ("width", "height", "max-width", "max-height")
    )
    moved = style.get("position", "") in {"absolute", "fixed"} and any(
        _FAR_AWAY.match(style.get(name, "")) for name in ("left", "top", "right", "bottom")
    )
    return (
        style.get("display", "").split(" ")[0] == "none"
        or _ZERO.fullmatch(style.get("opacity", "")) is not None
        or style.get("content-visibility") == "hidden"
        or _NO_SCALE.search(style.get("transform", "")) is not None
        or _NO_CLIP.fullmatch(style.get("clip", "")) is not None
        or _NO_CLIP_PATH.match(style.get("clip-path", "")) is not None
        or _FAR_AWAY.match(style.get("text-indent", "")) is not None
        or (clipped and tiny)
        or moved
    )


def _unseen_text(style: Mapping[str, str], before: _Unseen) -> _Unseen:
    """Return why text within an element cannot be seen; what it holds may change that again."""
    now = before
    visibility = style.get("visibility", "").split(" ")[0]
    if visibility not in {"", "inherit", "unset"}:
        now = now | _Unseen.HIDDEN if visibility in {"hidden", "collapse"} else now & ~_Unseen.HIDDEN
    size = style.get("font-size", "inherit")
    if size != "inherit":
        now = now | _Unseen.SIZE if _ZERO.fullmatch(size) else now & ~_Unseen.SIZE
    colour = style.get("color", "inherit")
    if colour != "inherit":
        painted = "text" in (style.get("background-clip"), style.get("-webkit-background-clip"))
        clear = _TRANSPARENT.fullmatch(colour) is not None and not painted
        now = now | _Unseen.COLOUR if clear else now & ~_Unseen.COLOUR
    return now


def _matters(declarations: Mapping[str, str]) -> bool:
    """Return whether a rule hides something, or may show again what another has hidden."""
    return (
        bool(declarations.keys() & {"display", "visibility", "opacity"})
        or _is_unseen(declarations)
        or bool(_unseen_text(declarations, _SEEN))
        or _is_struck(declarations)
    )


def _is_struck(style: Mapping[str, str]) -> bool:
    return "line-through" in style.get("text-decoration", style.get("text-decoration-line", ""))


def _unescaped(match: re.Match[str]) -> str:
    if match[1] is None:
        return match[2]
    code = int(match[1], 16)
    return chr(code) if 0 < code < 0x110000 else "\ufffd"
