"""Generated headlines and sentences of several subjects, each with the label that its own part gives it.

Who says something, reports on it or decides it stays neutral; what it is said of does not. Drawing the names
at random teaches that the place in the sentence decides, not the name.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Final

from training.targets import TargetExample, parsed

_COMPANIES: Final = (
    "Halvorsen|Kaskela|Norrbruk|Teleste Marine|Ravelin|Aldersey|Bryce & Sons|Dunmore Foods|Vattula|"
    "Elektra|Orrick Energy|Mallory Retail|Tarpon Airlines|Sable Mining|Larkspur Pharma|"
    "Ostrava Motors|Castellan Bank|Gulmohar Finance|Shantanu Textiles|Indus Power|Konkan Ports|"
    "Lumora|Kestrel|Vantix|Apple|Microsoft|Amazon|Tesla|Ford|Toyota|Boeing|Airbus|Siemens|Bosch|"
    "Philips|SAP|Shell|BP|Exxon|Chevron|Walmart|Costco|Nike|Adidas|Pfizer|Merck|Novartis|Roche|"
    "Nestle|Unilever|Coca-Cola|Pepsi|Intel|Nvidia|AMD|Samsung|Sony|Netflix|Disney|Uber|Lyft|Visa|"
    "Mastercard|Citi|Wells Fargo|Bank of America|Lloyds|Barclays|HSBC|Santander|ING|Delta|United|"
    "Ryanair|Rio Tinto|BHP|Glencore|ArcelorMittal|Tata Steel|Infosys|Wipro|HDFC Bank|ICICI Bank|"
    "Axis Bank|Reliance|Maruti|Bharti Airtel|Sun Pharma|Lupin|Cipla|ITC|ONGC|NTPC|Vedanta|"
    "Caterpillar|Deere|Alibaba|Tencent"
).split("|")
_MARKETS: Final = (
    "Sensex|Nifty|FTSE 100|DAX|Nikkei|S&P 500|Dow|Nasdaq|Gold|Silver|Copper|Oil|Brent|Sterling|Euro|"
    "Yen|Dollar|Rupee|Bank stocks|Mid-caps|Small caps|Metal stocks|IT stocks|Asian shares|"
    "European shares|Wheat|Sugar|Cotton"
).split("|")
_SPEAKERS: Final = (
    "Goldman Sachs|Morgan Stanley|JPMorgan|UBS|Citigroup|Nomura|Jefferies|Macquarie|Credit Suisse|"
    "Deutsche Bank|CLSA|Kotak|Angel Broking|ICICI Direct|Motilal Oswal|Sharekhan|Edelweiss|IIFL|"
    "Wedbush|Bernstein|Cowen|Evercore|Oppenheimer|Stifel|Moody's|Fitch|S&P|Aldgate Research|"
    "Harbour Securities|Prime Capital"
).split("|")
_AUTHORITIES: Final = (
    "SEC|Sebi|FDA|RBI|Federal Reserve|ECB|BoE|European Commission|FTC|Justice Department|CCI|NHTSA|"
    "FAA|Treasury|Competition watchdog|Regulator|High Court|Supreme Court|Finance ministry"
).split("|")
_PEOPLE: Final = "Rohan Mehta|A. Kulkarni|Jane Alder|Tom Brandt|Priya Nair|Lena Holm|Mark Dale".split("|")
_UP: Final = "rises|gains|jumps|climbs|surges|soars|rallies|ends higher|hits record high|rebounds".split("|")
_DOWN: Final = (
    "falls|drops|slides|slips|tumbles|plunges|sinks|loses ground|ends lower|hits year low|edges down|retreats"
).split("|")
_ROSE: Final = ("rose|gained|jumped|climbed|surged|added|advanced|was up|closed up").split("|")
_FELL: Final = ("fell|dropped|slid|slipped|lost|tumbled|shed|was down|closed down|declined").split("|")
_TEMPLATES: Final = (
    # Movers.
    "{+A} {up} {p}%, {-B} {down} {q}%",
    "{-A} {down} {p}% while {+B} {up} {q}%",
    "{+A} {up}; {-B} {down} on results",
    "{+A} {up} as {-B} {down}",
    "{+M} {up}, {-N} {down}",
    "{-M} {down} even as {+N} {up}",
    "{+M} {up} {p} points; {-A} top loser",
    "{-M} {down} {p} points; {+A}, {+B} buck the trend",
    "{-M} {down}, dragged by {-A} and {-B}",
    "{+M} {up}, led by {+A}; {-B} {down}",
    "{+M} {up}; {=A} unchanged",
    "{-M} {down}, {=N} flat",
    "{+M} off to a strong start, {+A} {up} on order win",
    "{-M} under pressure ahead of {=T} meeting",
    "{+M} {up} after {=T} minutes",
    "{-M} {down} on {=T} remarks",
    "{=M} little changed as {=T} decision awaited; {-A} {down}",
    "{=M} steady, {+A} {up} {p}%",
    # Who says it.
    "Buy {+A}, target price {n}: {=S}",
    "Sell {-A}, target price {n}: {=S}",
    "{=S} upgrades {+A} to buy, cuts {-B} to sell",
    "{=S} downgrades {-A} after weak quarter",
    "{=S} raises target price of {+A} by {p}%",
    "{=S} prefers {+A} over {-B}",
    "Prefer {+A} to {-B}: {=S}",
    "Bullish on {+A}, cautious on {-B}: {P}, {=S}",
    "Avoid {-A}, accumulate {+B}: {P}, {=S}",
    "{+M} can gain {p}% from here: {P}, {=S}",
    "{-M} likely to remain weak: {P}, {=S}",
    "{=A} fairly valued, says {=S}",
    "Hold {=A}, buy {+B} on dips: {=S}",
    "Book profits in {-A}: {P}, {=S}",
    "{-A} cut to junk by {=S}",
    "{=S} sees strong growth ahead for {+A}",
    "{=S} affirms {=A}'s rating, puts {-B} on negative watch",
    "\u201cWe see {+A} taking share from {-B},\u201d said {P}, analyst at {=S}.",
    "Analysts at {=S} said {-A} could lose more than {n} million this year.",
    "{P}, an analyst at {=S}, said demand for {+A} products was strong.",
    # Who decides it.
    "{=T} fines {-A} {n} million over disclosures",
    "{=T} clears {+A}, opens probe into {-B}",
    "{=T} approves {+A}'s drug, rejects {-B}'s",
    "{+A} {up} as {=T} approves its plan",
    "{-A} {down} after {=T} rejects its appeal",
    "{=T} sues {-A} for misleading investors",
    "{=T} bars {-A} from new business",
    "{=T} closes case against {+A}",
    "{=T} asks {=A}, {=B} for comments on draft rules",
    # Between two.
    "{+A} wins {n} million order from {=B}",
    "{+A} {up} on deal with {=B}",
    "{-A} loses contract with {=B}",
    "{-A} {down} as {=B} ends contract",
    "{+A} signs pact with {=B}, shares {gain}",
    "{=A} to acquire {+B} at {p}% premium",
    "{+A} jumps on bid from {=B}",
    "{=A} in talks with {=B} over joint venture",
    "{=A}, {=B} sign memorandum of understanding",
    "{-A} sues {-B} over patents",
    "{+A} wins patent case against {-B}",
    "{+A} overtakes {-B} in market share",
    "{-A} loses ground to {+B}",
    "{+A} profit {up}, {-B} sinks into the red",
    "{+A} beats estimates, {-B} misses",
    "{-A} misses estimates; {+B} raises outlook",
    "{-A} recalls cars, {+B} posts record sales",
    "{+A} hires as {-B} cuts {n} jobs",
    "{+A} adds customers at {-B}'s expense",
    "{-A} posts loss, hit by exposure to {-B}",
    # Sentences.
    "Shares of {+A} {rose} {p} percent, while {-B} {fell} {q} percent.",
    "{-A} {fell} {p}.{q}% after it cut its forecast, and rival {-B} {fell} {q}%.",
    "{+A} {rose} {p}% after the company reported better-than-expected results, but {-B} {fell} {q}%.",
    "The biggest gainers were {+A} and {+B}, which {rose} {p}% and {q}%, while {-C} {fell} {p}%.",
    "Among decliners, {-A} {fell} {p}% and {-B} lost {q}%; {+C} bucked the trend with a gain of {q}%.",
    "{+A}, which competes with {=B}, said quarterly profit {rose} {p} percent on strong demand.",
    "{-A}, a supplier of {=B}, said quarterly profit {fell} {p} percent and warned of weak orders.",
    "{=A} named {P}, formerly of {=B}, as head of its finance unit.",
    "{=A} declined to comment on a report that it is considering a bid for {+B}, whose shares {rose} {p}%.",
    "{-A} said it would cut {n} jobs, a week after {-B} did the same; {=C} said it had no such plans.",
    "The deal with {=A} gives {+B} access to {n} new customers, the company said.",
    "Data from {=S} showed {+A} had gained market share at the expense of {-B} last quarter.",
    "{-A} was hit with a lawsuit by {=T} on Tuesday over its sale of a unit to {=B}.",
    "Investors moved out of {-M} and into {+N}, {=S} said in a note.",
    "Unlike {-A}, {+B} managed to raise its margins despite higher costs.",
    "Despite a strong quarter at {+A}, {-B} struggled with falling demand.",
    "While {-A} struggles with delays, {+B} is delivering ahead of schedule.",
    "{+A} shines where {-B} disappoints",
    "Not {-A} but {+B} is the one to own: {=S}",
    "After a poor year for {-A}, analysts turn to {+B}",
    "{=A} to report results after {+B} surprised with record profit",
    "{=A} to report on Thursday; rival {-B} warned last week",
)


def couples(draw: random.Random, count: int) -> Iterator[list[TargetExample]]:
    """Yield the labelled targets of generated texts, those of one text together."""
    for _ in range(count):
        yield parsed(_filled(draw.choice(_TEMPLATES), draw))


def _filled(template: str, draw: random.Random) -> str:
    words = {
        "up": draw.choice(_UP),
        "down": draw.choice(_DOWN),
        "rose": draw.choice(_ROSE),
        "fell": draw.choice(_FELL),
        "gain": "gain",
        "p": str(draw.randint(2, 40)),
        "q": str(draw.randint(2, 40)),
        "n": str(draw.choice((12, 45, 120, 300, 950, 2000))),
        "P": draw.choice(_PEOPLE),
    }
    text = template
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word)
    named = dict(zip("ABC", draw.sample(_COMPANIES, 3), strict=True))
    named |= dict(zip("MN", draw.sample(_MARKETS, 2), strict=True))
    named |= {"S": draw.choice(_SPEAKERS), "T": draw.choice(_AUTHORITIES)}
    for letter, name in named.items():
        for mark in "+=-":
            text = text.replace(f"{{{mark}{letter}}}", f"{{{mark}{name}}}")
    return text
