"""A small lexicon of headline English, written for this project: what words say, and what moves where."""

from __future__ import annotations

from typing import Final

GOOD: Final = frozenset(
    """
    acclaimed accolade accurate achieve achieved achieves admired affordable amazing applause
    approved award awarded awards beat beating beats benefit benefits best better blockbuster boom
    boost boosted boosting boosts breakthrough breathtaking bright brightens brighter brisk bullish
    buoyant cheer cheered cheers clean cleared clears climb comeback confident congratulates cure
    cures delight delights ease eased eases easing efficient elegant encouraging enjoy exceed
    exceeded exceeds excellent exciting expand expanded expands expansion faster favorite fix fixed
    fixes flawless flourish free freed gain gained gaining gains game-changer good grant great
    growth hail hailed hails happy helped helps hero highest hike honored hopeful hopes impress
    impressed impresses impressive improve improved improvement improvements improves improving
    innovative joy landmark lauded leader leading liked love loved loves lucrative milestone
    optimism optimistic outperform outperforms overcome overweight peace perfect pleased popular
    positive praise praised praises profit profitable progress promising prosper protect protected
    protects rallied rallies rally rallying rave rebound rebounded rebounds record recover recovered
    recovering recovers recovery rescue rescued resolved restored resume resumes reward rewarded
    robust safe safer save saved saves secure secured secures shines smart smooth smoother soar
    soared soaring soars solid solve solved solves stellar strong stronger strongest stunning
    succeed succeeds success successful superb surge surged surges surging surpass surpassed
    surpasses sustain terrific thrive thrives top topped tops traction triumph trusted upbeat
    upgrade upgraded upgrades upside victory welcome welcomed welcomes win winner winning wins won
    wonderful worthy
    """.split()
)

BAD: Final = frozenset(
    """
    abandon abandoned abandons abuse accident accused accuses alarm alleged alleges anger angers
    angry annoyed attack attacked attacks axe axed axes backlash bad ban bankrupt bankruptcy banned
    bans bearish blame blamed bleak bleeds block blocked blow botched breach breached breaches break
    breaks broke broken bug buggy bugs burn burns cancel canceled cancelled cancels catastrophic
    caution cautious chaos charged charges cheated chill chills clash closes closure closures
    collapse collapsed collapses complain complains complaints concern concerned concerns condemn
    condemned condemns controversy convicted corruption crack crackdown crash crashed crashes
    crashing crime criminal crippled crisis critical criticised criticism criticized cut cuts
    cutting cyberattack damage damaged damages danger dangerous dead deadly death deaths default
    defaults defect defective deficit delay delayed delays denied denies deny derail deteriorate die
    died dies dim disappoint disappointed disappointing disappoints disaster discontinue dispute
    disrupt disruption doubt doubts downbeat downgrade downgraded downgrades downside dull dump
    dumped dumps emergency error errors explode explodes exploit exploited explosion expose exposed
    exposes fail failed failing fails failure failures fake fault faulty fear feared fears fine
    fined fines fire fired fires flaw flawed flaws flee flop flops flounder force forced fraud
    freeze freezes frozen frustrated furious fury glitch glitches gloom gloomy grim grounded guilty
    hack hacked hacker hackers hacks halt halted halts harassment harm harmful hate hijack hit hits
    hurt hurts idle idles illegal injured injuring injury insecure insolvency investigate
    investigated investigating investigation jail jailed jeopardy jitters kill killed kills lack lag
    lags lawsuit lawsuits layoff layoffs lays leak leaked leaks lied lies liquidation lose loses
    losing loss losses lost malware meltdown mess miss missed misses missing misuse monopoly
    negative nightmare nosedive offline oust ousted outage outages outcry outrage overheat
    overheating panic penalty pessimism phishing plague plagued plunge plunged plunges poor pressure
    probe probes problem problems protest protests punish quit quits raid raids ransom ransomware
    recall recalled recalling recalls recession reject rejected rejects resign resigned resigns
    retreat retreats risk risks risky rocky row sack sacked sacks sag scam scandal scrap scrapped
    scraps scrutiny sell-off selloff sentenced setback severe shed shortage shortages shortfall shut
    shutdown shuts sink sinks skid slam slammed slams slash slashed slashes slippery slow slowdown
    slower sluggish slump slumped slumps spook spooked spyware stall stalled stalls steal steals
    stolen strike strikes struggle struggles struggling stuck sue sued sues suffer suffers suspend
    suspended suspends suspicion tainted terrible theft threat threaten threatens threats toxic
    trash trouble troubled troubles tumble tumbled tumbles turmoil ugly uncertain uncertainty
    underperform underweight unfair unhappy unsafe unstable upset victim victims violate violated
    violates violation vulnerability vulnerable war warn warned warning warns weak weaken weakened
    weakens weaker weakness woes worried worries worry worse worsens worst wreck wrong
    """.split()
)

UP: Final = frozenset(
    """
    accelerate accelerated accelerates add added adds advance advanced advances climb climbed
    climbing climbs double doubled doubles gain gained gains grew grow growing grown grows high
    higher hike hiked hikes increase increased increases increasing jump jumped jumps lift lifted
    lifts more mount mounts raise raised raises rebound rebounded rebounds rise risen rises rising
    rose soar soared soars spike spiked spikes surge surged surges swell swelled swells triple
    tripled triples up widen widened widens
    """.split()
)

DOWN: Final = frozenset(
    """
    contract contracted contracts cut cuts decline declined declines declining decrease decreased
    decreases dip dipped dips down drop dropped dropping drops ease eased eases fall fallen falling
    falls fell fewer halve halved halves less lose loses lost low lower lowest lows narrow narrowed
    narrows plunge plunged plunges reduce reduced reduces retreat retreats sank shed sheds shrank
    shrink shrinking shrinks sink sinks slid slide slides slip slipped slips slump slumped slumps
    trim trimmed trims tumble tumbled tumbles worsen worsens
    """.split()
)

WELCOME_WHEN_HIGH: Final = frozenset(
    """
    backlog battery bookings cash confidence copper customers deliveries demand dividend dow
    downloads earnings ebit ebitda eps exports forecast ftse funding gold growth guidance hiring
    income index jobs margin margins market markets nasdaq net nifty oil openings orders outlook
    output price production profit profits rating revenue revenues ridership rupee sales sensex
    share shares shipments speed stock stocks subscribers target traffic turnover users valuation
    wages
    """.split()
)
"""Measures of which more is better."""

WELCOME_WHEN_LOW: Final = frozenset(
    """
    attacks bugs churn claims complaints cost costs crime deaths debt debts defaults deficit delays
    downtime emissions errors expenses fees inflation injuries jobless latency layoffs loss losses
    npa npas outages pollution poverty rent rents risk tax taxes unemployment vulnerabilities waste
    """.split()
)
"""Measures of which less is better."""

NEGATORS: Final = frozenset(
    """
    aren't avert averts avoid avoids blocks can't cannot cleared clears denies despite didn't
    dismissed dismisses doesn't don't drops ends fewer hasn't isn't n't neither never no nor not
    prevents stop stops wasn't without won't
    """.split()
)
