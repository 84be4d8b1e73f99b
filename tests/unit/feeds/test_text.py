"""Markup to text: the quick way through ordinary markup says what going tag by tag says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.feeds.text import _between_plain_tags, _tag_by_tag, author_name, text_of

PIECES = (
    "<", ">", "</", "<p>", "<b>", "</b>", "<script>", "</script>", "<!--", "-->", "<br/>", "<a b=c>", " ",
    "text", "&amp;", "<foo:bar>", "<x", "<?", "<!", '"', "<SVG/>", "<1>", '<P class=">">', "\n", "<iframe x>",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text("<>/!?-ab=\"' \n", max_size=30))
def test_the_quick_way_leaves_what_the_slow_one_leaves(markup: str) -> None:
    quick = _between_plain_tags(markup)
    assert quick is None or quick == _tag_by_tag(markup, keep_unknown=False)


@pytest.mark.parametrize(
    ("markup", "is_quick"),
    [
        ("no markup", True),
        ('<p class="x">One<br>two <b>bo</b>ld</p>', True),
        ("<p>a</p><script>b</script>", False),
        ("a<!-- b -->c", False),
        ("a < b", False),
        ("<p>a</p><img src=", False),
    ],
)
def test_ordinary_markup_is_read_the_quick_way(markup: str, is_quick: bool) -> None:
    assert (_between_plain_tags(markup) is not None) is is_quick


def test_blocks_separate_words_and_tags_inside_words_do_not() -> None:
    assert text_of("<p>One<br>two</p><div>bo<b>ld</b> &amp; <unknown>free</unknown></div>") == (
        "One two bold & free"
    )


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ('<img alt="a > b" src=x>Shown', "Shown"),
        ("<!-- --><img alt='a > b'>Shown", "Shown"),
        ('<a title="open>Shown</a>', "Shown"),
        ("<p don't>Shown</p> isn't", "Shown isn't"),
        ("&lt;p&gt;Shown &lt;b&gt;twice&lt;/b&gt;&lt;/p&gt;", "Shown twice"),
        ("Tags such as &lt;p&gt; are shown", "Tags such as <p> are shown"),
    ],
)
def test_only_what_a_reader_sees_is_text(markup: str, text: str) -> None:
    assert text_of(markup) == text


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("ann@news.example (Ann Lee)", "Ann Lee"),
        ("Ann Lee <ann@news.example>", "Ann Lee"),
        ("ann@news.example", "ann@news.example"),
        ("@annlee", "@annlee"),
        ("<span about='/user/3'>Ann &amp; Bo</span>", "Ann & Bo"),
    ],
)
def test_an_author_is_the_name_beside_an_address(written: str, name: str) -> None:
    assert author_name(written) == name
