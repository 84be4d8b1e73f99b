"""What newsrooms put around a headline: their own name and the label of the wire item.

Facts only, no rules; `sourcebook.articles._preparation` says when a name or a label is taken off. Everything
here is lower case with punctuation written as a space, the form in which names are compared, apart from
domains. The list is short on purpose: a name that is missing keeps two records apart, but a name that is also
a common word or a subject of news (Fox, Sky, Mint, the Dow Jones) could take a part of a headline away. Such
names stand in `own_names` and count only for items that come from that publisher.
"""

from __future__ import annotations

from typing import NamedTuple


class Publisher(NamedTuple):
    """One publisher and the ways in which it signs.

    Attributes:
        names: names that mean this publisher wherever they stand at the edge of a headline.
        domains: its registered domains.
        own_names: names that mean it only on an item of its own.
        agency: a news agency whose name before a colon is a credit, not a subject.
    """

    names: tuple[str, ...]
    domains: tuple[str, ...] = ()
    own_names: tuple[str, ...] = ()
    agency: bool = False


PUBLISHERS: tuple[Publisher, ...] = (
    # News agencies.
    Publisher(("reuters",), ("reuters.com",), ("thomson reuters",), agency=True),
    Publisher(("ap", "associated press", "the associated press"), ("apnews.com", "ap.org"), agency=True),
    Publisher(("afp", "agence france presse"), ("afp.com",), agency=True),
    Publisher(("upi", "united press international"), ("upi.com",), agency=True),
    Publisher(("dpa", "deutsche presse agentur"), ("dpa.com",), agency=True),
    Publisher(("ansa",), ("ansa.it",), agency=True),
    Publisher(("efe", "agencia efe"), ("efe.com",), agency=True),
    Publisher(("tass",), ("tass.com", "tass.ru"), ("тасс",), agency=True),
    Publisher(("interfax", "интерфакс"), ("interfax.com", "interfax.ru"), agency=True),
    Publisher(("ria novosti", "риа новости"), ("ria.ru",), agency=True),
    Publisher(("xinhua",), ("xinhuanet.com",), ("新华社", "新华网"), agency=True),
    Publisher(("kyodo", "kyodo news"), ("kyodonews.net",), ("共同通信",), agency=True),
    Publisher(("jiji press",), ("jiji.com",), ("jiji", "時事通信"), agency=True),
    Publisher(("yonhap",), ("yna.co.kr",), ("연합뉴스",), agency=True),
    Publisher(("pti", "press trust of india"), ("ptinews.com",), agency=True),
    Publisher(("ians",), ("ians.in",), agency=True),
    Publisher(("ani news", "asian news international"), ("aninews.in",), ("ani",)),
    Publisher(("pa media", "press association"), (), ("pa",)),
    Publisher(("the canadian press", "canadian press"), ("thecanadianpress.com",)),
    Publisher(("australian associated press",), ("aap.com.au",), ("aap",)),
    Publisher(("anadolu agency",), ("aa.com.tr",), ("anadolu",)),
    Publisher(("dow jones newswires",), ("dowjones.com",), ("dow jones",)),
    # Wires for announcements.
    Publisher(("pr newswire", "prnewswire"), ("prnewswire.com",)),
    Publisher(("business wire", "businesswire"), ("businesswire.com",)),
    Publisher(("globenewswire", "globe newswire"), ("globenewswire.com",)),
    Publisher(("accesswire",), ("accesswire.com",)),
    # Business and markets.
    Publisher(("bloomberg", "bloomberg com"), ("bloomberg.com",)),
    Publisher(("wsj", "wall street journal", "the wall street journal"), ("wsj.com",)),
    Publisher(("ft", "financial times", "the financial times"), ("ft.com",)),
    Publisher(("cnbc",), ("cnbc.com",)),
    Publisher(("marketwatch",), ("marketwatch.com",)),
    Publisher(("barron s", "barrons"), ("barrons.com",)),
    Publisher(("business insider",), ("businessinsider.com",), ("insider",)),
    Publisher(("forbes",), ("forbes.com",)),
    Publisher(("seeking alpha",), ("seekingalpha.com",)),
    Publisher(("motley fool", "the motley fool"), ("fool.com", "fool.com.au", "fool.co.uk")),
    Publisher(("benzinga",), ("benzinga.com",)),
    Publisher(("investing com",), ("investing.com",)),
    Publisher(("yahoo finance", "yahoo news"), ("finance.yahoo.com", "news.yahoo.com")),
    Publisher(("the economist",), ("economist.com",), ("economist",)),
    Publisher(("nikkei asia",), ("nikkei.com",), ("nikkei", "日本経済新聞")),
    Publisher(("economic times", "the economic times"), ("economictimes.indiatimes.com",)),
    Publisher(("moneycontrol",), ("moneycontrol.com",)),
    Publisher(("livemint",), ("livemint.com",), ("mint",)),
    Publisher(("business standard",), ("business-standard.com",)),
    # United States and Canada.
    Publisher(("nyt", "nytimes", "new york times", "the new york times"), ("nytimes.com",)),
    Publisher(("washington post", "the washington post"), ("washingtonpost.com",)),
    Publisher(("los angeles times", "la times"), ("latimes.com",)),
    Publisher(("usa today",), ("usatoday.com",)),
    Publisher(("cnn",), ("cnn.com",)),
    Publisher(("fox news", "fox business"), ("foxnews.com", "foxbusiness.com"), ("fox",)),
    Publisher(("abc news",), ("abcnews.go.com", "abcnews.com"), ("abc",)),
    Publisher(("cbs news",), ("cbsnews.com",), ("cbs",)),
    Publisher(("nbc news", "msnbc"), ("nbcnews.com", "msnbc.com"), ("nbc",)),
    Publisher(("npr",), ("npr.org",)),
    Publisher(("axios",), ("axios.com",)),
    Publisher(("politico",), ("politico.com", "politico.eu")),
    Publisher(("huffpost", "huffington post", "the huffington post"), ("huffpost.com", "huffingtonpost.com")),
    Publisher(("cbc news",), ("cbc.ca",), ("cbc",)),
    Publisher(("the globe and mail", "globe and mail"), ("theglobeandmail.com",)),
    # Technology.
    Publisher(("techcrunch",), ("techcrunch.com",)),
    Publisher(("the verge",), ("theverge.com",)),
    Publisher(("ars technica",), ("arstechnica.com",)),
    # Elsewhere.
    Publisher(("bbc", "bbc news"), ("bbc.com", "bbc.co.uk", "bbci.co.uk")),
    Publisher(("the guardian",), ("theguardian.com", "guardian.co.uk"), ("guardian",)),
    Publisher(
        ("the telegraph", "daily telegraph", "the daily telegraph"), ("telegraph.co.uk",), ("telegraph",)
    ),
    Publisher(("sky news",), ("news.sky.com",), ("sky",)),
    Publisher(("daily mail", "mail online"), ("dailymail.co.uk",)),
    Publisher(("deutsche welle",), ("dw.com",), ("dw",)),
    Publisher(("france 24",), ("france24.com",)),
    Publisher(("euronews",), ("euronews.com",)),
    Publisher(("al jazeera", "aljazeera"), ("aljazeera.com", "aljazeera.net"), ("الجزيرة",)),
    Publisher(("der spiegel", "spiegel online"), ("spiegel.de",), ("spiegel",)),
    Publisher(("le monde",), ("lemonde.fr",)),
    Publisher(("le figaro",), ("lefigaro.fr",)),
    Publisher(("el país", "el pais"), ("elpais.com",)),
    Publisher(("south china morning post", "scmp"), ("scmp.com",)),
    Publisher(("the japan times", "japan times"), ("japantimes.co.jp",)),
    Publisher(("nhk", "nhk world"), ("nhk.or.jp",)),
    Publisher(("times of india", "the times of india"), ("timesofindia.indiatimes.com",)),
    Publisher(("hindustan times",), ("hindustantimes.com",)),
    Publisher(("the hindu",), ("thehindu.com",)),
    Publisher(("ndtv",), ("ndtv.com",)),
    Publisher(("sydney morning herald", "the sydney morning herald"), ("smh.com.au",)),
)

SECTION_WORDS = frozenset(
    "news world business politics technology tech science health sport sports entertainment culture "
    "markets finance opinion international national local top stories latest breaking headlines "
    "articles rss feed feeds online live home page us uk usa europe asia africa india australia "
    "canada".split()
)
"""Words that follow a publisher's name without making it another one: "Reuters World News", "BBC Sport"."""

SHARED_HOSTS = frozenset(
    "google feedburner feedblitz medium blogspot blogger wordpress substack github gitlab tumblr "
    "youtube reddit yahoo twitter facebook mastodon msn apple bing ghost squarespace wixsite "
    "livejournal typepad buttondown beehiiv".split()
)
"""Domains that many publishers share, or that belong to a company in the news: no publisher's name."""

SECOND_LEVEL_LABELS = frozenset(["co", "com", "org", "net", "gov", "ac", "edu", "or", "ne", "go", "gob"])
"""Labels under a country's domain below which names are registered: bbc.co.uk, fool.com.au."""

# Labels of wire items, as regular expressions over lower-case text. Labels that say something about the
# content (GLOBAL MARKETS-, OPINION:, VIDEO:) are not among them: without it the headline means another item.
GLUED_LABELS = (
    r"updated?",
    r"wrap[ -]?up",
    r"rpt",
    r"refile",
    r"corrected(?:\s*-?\s*\(official\))?",
    r"exclusive",
    r"factbox",
    r"explainer",
    r"analysis",
    r"brief",
)
"""Labels that wires join to the headline with a bare hyphen ("UPDATE 2-Oil", "Exclusive-Apple"): words with
which hardly any compound begins."""

SPACED_LABELS = (
    r"breaking(?: news)?",
    r"just in",
    r"live(?: updates?| ?blog| coverage)?",
    r"watch live",
    r"(?:news )?alert",
    r"urgent",
    r"developing(?: story)?",
    r"news ?flash",
    r"correction",
    r"eilmeldung",
    r"exklusiv",
    r"exclusif",
    r"en direct",
    r"en vivo",
    r"[uú]ltima hora",
    r"срочно",
    r"эксклюзив",
    r"عاجل",
    r"速報",
    r"速报",
    r"独家",
    r"獨家",
    r"快讯",
    r"快訊",
)
"""Labels that need a colon, a bar, a spaced or long dash, or brackets: "Live-action film" is not one."""
