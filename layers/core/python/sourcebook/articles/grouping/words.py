"""What words of headlines mean to grouping: which carry nothing, which are one, which are opposites.

The lists are this project's own. They lean to one side: a word that is missing from `COMMON` may keep two
headlines of one event apart, and never joins two events.
"""

from __future__ import annotations

import re
from typing import Final


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


STOP: Final = _set(
    "a an the this that these those it its his her their our your my he she they we you i and or but "
    "nor so as at by for from in into of off on onto out over per than then to toward towards under "
    "until upon via with within is are was were be been being am has have had do does did will would "
    "shall should can could may might must after before amid during while when where which who whom "
    "whose what why how if because about against between among around up down back again more most "
    "much many some any all both each every few new now today just still yet also even here there "
    "ahead says say said saying s t re ve ll"
)
"""Words that carry nothing by themselves."""

NEGATIONS: Final = _set(
    "not no never none without cannot cant wont dont doesnt didnt isnt arent wasnt denies deny denied "
    "denying rejects reject rejected rejecting refuses refuse refused halts halt halted scraps scrap "
    "scrapped cancels cancel cancelled canceled abandons abandon abandoned withdraws withdraw "
    "withdrew withdrawn postpones postpone postponed delays delay delayed blocks blocked unlikely "
    "false fake fail fails failed nicht kein keine keinen pas niet geen não nao"
)
"""Words that turn a story round: one headline with and one without them are two stories."""

UP: Final = _set(
    "up rise rises rising rose risen gain gains gained gaining jump jumps jumped jumping surge surges "
    "surged surging soar soars soared soaring climb climbs climbed climbing rally rallies rallied "
    "rebound rebounds rebounded higher high beat beats beating top tops topped upgrade upgrades "
    "upgraded raise raises raised raising lift lifts lifted hike hikes hiked boost boosts boosted "
    "increase increases increased grow grows grew growth win wins won winning buy buys bought acquire "
    "acquires acquired hire hires hired hiring open opens opened opening approve approves approved "
    "approval expand expands expanded improve improves improved profit profits record stronger strong "
    "bullish outperform start starts started begin begins began add adds added overweight "
    "resume resumes resumed reopen reopens reopened restore restores restored "
    "steigt steigen stieg hebt erhöht gewinnt gewinnen besser höher hausse monte grimpe bondit gagne bat "
    "sube suben gana ganan bate sale salgono vince batte sobe sobem ganha vence stijgt stijgen wint"
)
"""Words of getting more or better."""

DOWN: Final = _set(
    "down fall falls falling fell fallen drop drops dropped dropping slide slides slid sliding sink "
    "sinks sank sinking plunge plunges plunged plunging tumble tumbles tumbled slump slumps slumped "
    "decline declines declined dip dips dipped lower low miss misses missed downgrade downgrades "
    "downgraded cut cuts cutting slash slashes slashed reduce reduces reduced decrease decreases "
    "decreased shrink shrinks shrank lose loses lost losing loss losses sell sells sold divest "
    "divests fire fires fired layoff layoffs close closes closed closing shut shuts reject rejects "
    "rejected rejection worsen worsens worsened weaker weak bearish underperform end ends ended stop "
    "stops stopped quit quits underweight suspend suspends suspended impose imposes imposed issued battu "
    "fällt fallen fiel sinkt sinken senkt verliert verlieren schlechter tiefer baisse chute plonge recule "
    "perd baja bajan cae caen pierde pierden scende scendono perde cai caem cede daalt dalen verliest"
)
"""Words of getting less or worse."""

SAME: Final[dict[str, str]] = {
    word: meaning
    for meaning, words in {
        "buy": "buy buys bought buying acquire acquires acquired acquiring acquisition purchase "
        "purchases purchased purchasing takeover",
        "rise": "rise rises rising rose risen gain gains gained gaining climb climbs climbed climbing "
        "advance advances advanced",
        "surge": "surge surges surged surging soar soars soared soaring jump jumps jumped jumping "
        "leap leaps leapt rally rallies rallied spike spikes spiked skyrocket skyrockets",
        "fall": "fall falls falling fell fallen drop drops dropped dropping slip slips slipped slide "
        "slides slid sliding decline declines declined declining dip dips dipped",
        "plunge": "plunge plunges plunged plunging tumble tumbles tumbled slump slumps slumped sink "
        "sinks sank crash crashes crashed",
        "cut": "cut cuts cutting slash slashes slashed reduce reduces reduced lower lowers lowered "
        "trim trims trimmed",
        "raise": "raise raises raised raising lift lifts lifted hike hikes hiked boost boosts boosted "
        "increase increases increased",
        "share": "share shares stock stocks",
        "profit": "profit profits earnings earning",
        "unveil": "unveil unveils unveiled unveiling launch launches launched launching introduce "
        "introduces introduced reveal reveals revealed announce announces announced "
        "announcing release releases released debut debuts debuted",
        "layoff": "layoff layoffs redundancy redundancies",
        "job": "job jobs worker workers employee employees staff staffer staffers",
        "sue": "sue sues sued suing lawsuit lawsuits",
        "kill": "kill kills killed die dies died dead deaths death",
        "fine": "fine fines fined penalty penalties",
        "investigate": "investigate investigates investigated investigating investigation probe "
        "probes probed inquiry",
        "forecast": "forecast forecasts outlook guidance",
        "beat": "beat beats beating top tops topped exceed exceeds exceeded surpass surpasses surpassed",
        "deal": "deal deals agreement agreements pact",
        "chief": "ceo chief boss",
        "hire": "hire hires hired hiring appoint appoints appointed names named",
        "quit": "quit quits resign resigns resigned resignation leave leaves departs depart departed",
        "steal": "steal steals stole stolen theft",
        "hack": "hack hacks hacked hackers hacker breach breaches breached",
        "open": "open opens opened opening",
        "recall": "recall recalls recalled recalling",
        "approve": "approve approves approved approving approval",
        "warn": "warn warns warned warning",
        "plan": "plan plans planned planning",
        "build": "build builds built building",
        "win": "win wins won winning",
        "lose": "lose loses lost losing",
        "make": "make makes made making",
        "see": "see sees saw seen seeing",
        "grow": "grow grows grew growth growing",
        "sell": "sell sells sold selling sale sales",
    }.items()
    for word in words.split()
}
"""Words of headlines that mean the same, by the one that stands for them."""

COMMON: Final = (
    STOP
    | NEGATIONS
    | UP
    | DOWN
    | frozenset(SAME)
    | _set(
        "spot price prices target targets rating ratings analyst analysts estimate estimates expectation "
        "expectations expected expects expect report reports reported reporting results result "
        "quarter quarterly annual year years month months week weeks day days time times revenue "
        "revenues income margin margins demand supply order orders customer customers user users "
        "market markets trade trades trading trader traders investor investors investment invest "
        "invests company companies firm firms group business industry sector bank banks fund funds "
        "bond bonds yield yields rate rates interest inflation economy economic economist economists "
        "policy tax taxes tariff tariffs budget debt loan loans credit cash dividend dividends "
        "buyback offering ipo merger mergers bid offer offers stake venture partner partners "
        "partnership unit division plant plants factory factories store stores product products "
        "production car cars vehicle vehicles truck trucks electric battery batteries chip chips "
        "semiconductor phone phones app apps software hardware data cloud security privacy network "
        "internet web online digital technology tech science study studies research researchers "
        "scientists drug drugs vaccine trial trials health hospital patients patient court judge jury "
        "law lawmakers bill senate house president minister government official officials state "
        "states city county police man woman men women people child children family families home "
        "homes school schools student students world global international national local country "
        "countries war peace talks talk meeting summit vote voters election elections poll polls "
        "campaign party leader leaders chairman director executive executives manager founder "
        "founders co-founder director chair board shareholder shareholders power energy oil gas crude "
        "gold silver copper steel coal solar wind water food air space rocket climate weather storm "
        "fire flood earthquake crash accident attack attacks strike strikes protest protests crisis "
        "risk risks fear fears concern concerns hope hopes boom bust first last next latest big "
        "bigger biggest large largest small smaller smallest best worst better worse good bad great "
        "early late long short full half double triple key major minor top-selling record-high near "
        "nearly almost early-stage free open public private federal foreign domestic euro dollar "
        "dollars pound pounds yen percent pct million billion trillion thousand hundred point points "
        "basis bps here's what's why's it's heres whats buying selling stake set sets setting get "
        "gets getting got give gives gave given take takes took taken taking come comes came coming "
        "go goes went going keep keeps kept hold holds held put puts bring brings brought turn turns "
        "turned run runs ran running move moves moved moving show shows showed shown showing find "
        "finds found finding face faces faced facing lead leads led leading join joins joined help "
        "helps helped need needs needed want wants wanted look looks looked looking seek seeks sought "
        "try tries tried push pushes pushed pull pulls pulled call calls called calling ask asks "
        "asked tell tells told use uses used using work works worked working pay pays paid paying "
        "spend spends spent spending save saves saved create creates created creating develop "
        "develops developed change changes changed changing continue continues continued remain "
        "remains remained stay stays stayed return returns returned reach reaches reached near nears "
        "hit hits hitting meet meets met join mark marks marked face post posts posted posting file "
        "files filed filing sign signs signed signing agree agrees agreed confirm confirms confirmed "
        "claim claims claimed accuse accuses accused charge charges charged arrest arrests arrested "
        "settle settles settled settlement seek probe ban bans banned limit limits limited allow "
        "allows allowed order ordered review reviews reviewed test tests tested testing update "
        "updates updated upgrade statement news story video photo photos watch live analysis opinion "
        "exclusive breaking ahead despite following amid versus vs including like likely possible "
        "potential own old young white black red green blue high-end low-cost long-term short-term "
        "third second fourth fifth morning evening night tonight yesterday tomorrow weekly daily "
        "monthly yearly fiscal full-year stock-split split warehouse shipment shipments delivery "
        "deliveries service services system systems platform platforms model models brand brands line "
        "range project projects contract contracts supplier suppliers maker makers retailer retailers "
        "giant giants startup startups rival rivals competition competitor competitors regulator "
        "regulators regulation regulations rule rules ruling appeal appeals case cases deadline "
        "decision decisions move number numbers level levels value worth cost costs costly spending "
        "employment unemployment wage wages salary benefit benefits pension union season game games "
        "match team teams player players coach title cup final finals league film movie movies music "
        "album song show star stars actor actress singer fans fan award awards"
    )
)
"""Words that are no names, however they are written."""

ONE_NAME: Final[tuple[tuple[str, str], ...]] = (
    ("federal reserve", "fed"),
    ("european central bank", "ecb"),
    ("bank of england", "boe"),
    ("bank of japan", "boj"),
    ("european union", "eu"),
    ("united nations", "un"),
    ("united states", "usa"),
    ("united kingdom", "uk"),
    ("u.k.", "uk"),
    ("wall street journal", "wsj"),
    ("chief executive officer", "ceo"),
    ("chief executive", "ceo"),
    ("lays off", "layoff"),
    ("laid off", "layoff"),
    ("lay off", "layoff"),
    ("laying off", "layoff"),
    ("job cuts", "layoff"),
    ("price target", "pricetarget"),
    ("target price", "pricetarget"),
)
"""Names and phrases of several words, and what stands for them."""

NUMBER_WORDS: Final[dict[str, str]] = {
    word: str(number)
    for number, word in enumerate(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), 2
    )
}
"""Small numbers as words; "one" is rather a pronoun."""

ORDINALS: Final[dict[str, int]] = {
    "first": 1, "1st": 1, "second": 2, "2nd": 2, "third": 3, "3rd": 3, "fourth": 4, "4th": 4,
}  # fmt: skip
"""Quarters of a year by their ordinals."""

CALENDAR: Final = _set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june july "
    "august september october november december jan feb mar apr jun jul aug sep sept oct nov dec"
)
"""Days and months: what differs in them is another edition of a story. May is a verb in headlines."""

FORTHCOMING: Final = re.compile(
    r"\b(?:(?:expected|scheduled|what|how) to|to (?:report|vote|decide|publish|rule|hear)"
    r"|preview|dates? (?:of|for)|awaits?|ahead of)\b"
)
"""What is said of what has not happened: a headline with it and one without are two stories."""

OPENS_OR_CLOSES: Final = re.compile(
    r"\b(?:(open|start)|close|end)(?:s|d|ed)?(?= (?:\w+ )?(?:higher|lower|up|down|flat|mixed)\b)"
)
"""Of a market that opens or closes, the word behind says where it goes."""

STAGES: Final = _set(
    "ceo cfo coo cto final finals semifinal semifinals semi quarterfinal quarterfinals qualifying "
    "sought wanted arrested charged convicted sentenced acquitted"
)
"""Offices, and stages of a cup or of a case: what is at one of them is at none of the others."""

VARIANTS: Final = re.compile(
    r"(?<=\d )(?:pro|max|air|mini|plus|ultra|lite)\b(?: (?:max|plus)\b)?|\b(?:women|rc\d+|alpha|beta)\b"
)
"""They make another product, or another team, of what has the same name."""

COUNTING: Final = _set("fifth sixth seventh eighth ninth tenth") | frozenset(ORDINALS)
"""Ordinals: the fifth straight week is another one than the seventh."""
