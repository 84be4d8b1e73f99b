"""Words in the surroundings of an ambiguous name that show what it means.

Lists of this project's own, made from what headlines say of companies and of software; every word is in the
form that the matcher compares: lower case, without the genitive.
"""

from __future__ import annotations

from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NEVER_BEFORE: Final = _words(
    """
    a an the its his her their our my your this that these those each every no any some another price
    revenue growth inflation sales emissions profit
    """
)
"""In front of a word they show that it is the common one: "raises its target"."""

AFTER_COMPANY: Final = _words(
    """
    inc corp corporation co company plc ltd llc holdings group stock stocks share shares
    shareholder shareholders stockholders investor investors ceo cfo coo cto chairman chief boss founder
    cofounder executive executives exec execs employee employees staff worker workers store stores
    retailer customers earnings results profit profits revenue revenues sales guidance dividend q1 q2 q3
    q4 quarterly layoffs lawsuit antitrust ipo spinoff headquarters hq board management spokesperson
    spokesman spokeswoman engineers engineer bonds analyst analysts subsidiary unit deal
    stake stakes backed owned controlled funded
    """
)
"""Behind a name they show that it is a company's: "Block shares"."""

BEFORE_COMPANY: Final = _words(
    """
    will should does did
    retailer retailers chain giant giants maker makers manufacturer chipmaker automaker carmaker drugmaker
    insurer lender bank fintech firm company startup conglomerate platform owner parent rival rivals
    competitor bellwether megacap behemoth sues fines acquires buys upgrades downgrades initiates invests
    ceo cfo shares stock nasdaq nyse former ex anti pro non
    """
)
"""In front of a name they show that it is a company's: "fintech Block"."""

GIVEN_NAMES: Final = _words(
    """
    adam alan alex alice allen amy andrew anna anne anthony arthur barbara ben betty bill bob brian bruce
    carl carol charles charlie chris colin dan daniel dave david diana donald doug douglas ed edward eileen
    elizabeth emily emma eric frank fred gary george gerald gerry glenn greg harrison harry helen henry ian
    jacob james jane jason jeff jennifer jerry jessica jim joe john jonathan joseph josh julia karen kate
    keith kelly ken kevin larry laura lee linda lisa lucy luke maria martin mary matt matthew michael mike
    nancy neil nick nicole olivia oscar pat patricia patrick paul peter phil philip rachel ralph ray rebecca
    richard rob robert roger ron ronald rosie ross roy russell ryan sam samuel sandra sarah scott sean simon
    sophie stephen steve steven stuart sue susan ted terry thomas tim tom tony victoria vincent walter wayne
    william zac
    """
)
"""In front of a name they show that it is a person's: "Harrison Ford returns"."""

BEFORE_NAMES: Final = _words(
    """
    at by from with against for versus like to and than over after before as if but despite inside meet
    behind beyond without why how when where what can could is are was does did will would should has
    exclusive not
    """
)
"""At the beginning of a sentence, with a capital, they are no part of the name behind them."""

LOWER_IN_TITLES: Final = _words(
    """
    with from into over upon onto than that amid after before about against between among under through
    without within during until versus while when where what near like across behind despite toward towards
    """
)
"""Words of more than three letters that a headline in title case does not begin with a capital."""

LINKS_TO_COMPANY: Final = _words(
    "at by from with against for of on vs versus like to and & joins leaves than through via over boosts"
)
"""In front of a name, where the headline speaks of business, they show that it is a company's."""

COMPANY_VERBS: Final = _words(
    """
    wants wanted gets got aims makes made continues cites cited submits submitted cancels canceled cancelled
    celebrates celebrated won't doesn't isn't hasn't can't just puts takes took develops developed gives gave
    brings brought builds built breaks closing delaying set sets ready moves gears taps picks ditches drags
    says said reports reported posts posted announces announced launches launched unveils unveiled buys
    bought acquires acquired acquire sues sued hires hired names named appoints appointed lays laid fires
    fired plans planned raises raised cuts cut beats beat misses missed recalls recalled faces faced warns
    warned sees expects expected rolls rolled partners teams wins won adds added opens expands expanded
    introduces introduced invests invested files filed settles settled pays paid sells sold tops topped
    jumps jumped falls fell rises rose drops dropped soars soared tumbles tumbled surges surged plunges
    plunged slips slipped gains gained climbs climbed slides sinks sank rallies rallied shutters shuts
    halts delays scraps pulls explores considers nears seeks agrees agreed signs signed offers offered
    begins starts stops ends denies denied admits admitted apologizes defends blames accuses urges asks
    tells told reveals releases released ships shipped debuts discloses disclosed confirms confirmed
    forecasts lifts slashes trims boosts doubles triples reaffirms reiterates maintains hikes spends
    borrows issues prices completes closes eyes weighs mulls bets pivots rebrands overhauls restructures
    reorganizes outsources automates loses lost fails failed suffers suffered leaks blocks bans removes
    joins leaves quits exits enters pushes valued will to may could must is has was are
    """
)
"""Behind a name, what companies do: "Target raises"; a target does not."""

BUSINESS: Final = _words(
    """
    shares stock stocks earnings quarter quarterly q1 q2 q3 q4 revenue profit profits dividend guidance
    outlook analyst analysts nasdaq nyse investors shareholders ceo cfo layoffs antitrust merger
    acquisition ipo buyback valuation market markets wall dow upgrade downgrade overweight underweight
    outperform bullish bearish retail retailer retailers stores chipmaker megacap sec ftc lawsuit
    settlement tariffs billion million supplier suppliers brand brands boycott recall data breach app
    hackers regulators eu doj payment payments tech ai cloud chips rating
    """
)
"""Anywhere in a headline they show that it speaks of business."""

SOFTWARE: Final = _words(
    """
    ai code codes coded coding coder coders codebase codebases dev devs developer developers development
    ide ides editor editors agent agents agentic llm llms model models programming programmer programmers
    software vibe github gitlab vscode copilot anthropic openai google microsoft deepmind xai gpt gpt-4
    gpt-5 claude gemini llama prompt prompts autocomplete refactor refactoring refactors plugin plugins
    extension extensions cli terminal benchmark benchmarks swe swe-bench api apis chatbot chatbots
    assistant assistants app apps engineer engineers engineering debug debugging debugger typescript
    javascript python rust repo repos repository startup startups valuation funding subscription
    subscriptions subscribers mcp token tokens context workflow workflows automation tab pricing users
    beta preview commit commits bug bugs pr prs pull-request jetbrains neovim vim xcode sdk frontend
    backend web hallucinates hallucination open-source opensource nvidia chip compute release
    vulnerability security prompt-injection outage rate-limit limits
    """
)
"""Anywhere in a text they show that it speaks of software."""

BEFORE_TOOL: Final = _words("editor ide assistant agent chatbot copilot startup tool model using via with")
"""In front of a tool's name."""

AFTER_TOOL: Final = _words(
    "code pro max ide cli agent agents editor ai api sonnet opus haiku flash ultra nano composer users plugin"
)
"""Behind a tool's name; also what belongs to it rather than to a longer name."""

COMMON_WORDS: Final = _words(
    """
    abbott above access ace act action active adobe advance advent agent agile aide aider air ajax alibi
    align all allied ally almond alpha altitude amazon ambition amp anchor angel apex apollo apple arc
    arch archer are arena argon argus ark arm arrow art ascend ascent ash aspect aspen asset atlas atom
    augment aurora auto avenue axis axon bach badger baker ball balance band bank bar bard barrel base
    basin bath battle bay beacon bear beat bell berry best big bird bit black blackboard blaze blend block
    bloom blue bolt bond booking boost boot boss boston bot box brain branch brave break brick bridge
    bright brook brown brush bubble buck bud buffalo build bumble bunker burlington butterfly buzz cable
    cadence cake calm camel canvas cap capital car care cargo carnival carrier carter cascade case cash
    castle cat catalyst caterpillar celestial cell century ceo chain chair chance change channel chapter
    charge charm chart chase chat cheer chef cherry chevron chief chime chip choice chrome circle cisco
    citizen city clarity claude clean clear cliff climb cline clinic clorox cloud clover club coach coast
    cobalt codex cody cohere coin coke cold columbia comet comfort command common compass concord condor
    cone connect constellation context continue continental copper copilot coral core corner cost coupe
    courier cover cow craft crane create credit crest cross crow crown cruise crystal cube cue cup current
    cursor curve cut dash data dawn day dell delta depot desk devin dew diamond dice digital dime direct
    discover discovery dish disney dive dollar dolphin dome domino door dot dove dover dragon dream drift
    drive drop duke dune dusk dust eagle early earth east eaton echo eclipse edge edison eight elastic
    elder element elevance ember emerald emerson emma empire encore endeavor energy engine ensign entry
    envoy epic equinox era essential ether even ever evergreen everest evolution expedition express extra
    eye fab fable factory fair faith falcon fast fate father feather fig figure file fire first fish five
    fiserv flag flame flare flash fleet flex flight flint flow fluent fly focus fold forest forge fork
    form fort fortune forum forward foundation fountain four fox frame free freedom fresh frontier fuel
    full fury fusion future galaxy gamma gap garden garnet gate gateway gem gemini general genesis genius
    gentle ghost giant glass glean glide global globe glory go goal gold golden goldman good goose grab
    grace grain grand granite graph graphite grass gravity great green grid grok ground grove guide gulf
    gusto halo hammer hand harbor harmony harness harvest haven hawk head heart heights helium helix
    herald hero hertz high hill hive hobby hollow home honey hood hook hope horizon horse host hub human
    humble hunt hyper icon idea ideal illumina image imagine impact impulse incline index indigo infinity
    ink inner insight instant integral intel intuit ion iris iron island it ivy jack jade jaguar jasper
    java jet jewel join jules jump junie jungle jupiter just key kind king kite knight koala lake lam lamb
    lamp land lark laser lead leaf leap legend lemon lens level liberty life lift light lighthouse lilac
    lilly lily lime lincoln linde line linear link lion liquid live llama load local lock loft logic long
    loom loop lotus lovable love low lucid lucky luna lyft magic magnet magnolia main mango maple marathon
    marble march mark marriott mars match matrix matter maven max may media medallion medium menlo mercury
    merit mesa meta metal meteor method metro micron middle mile mind mine mint mirror mission mist mobile
    mode modern moment monarch monday moon morning moss motion motor mountain move muse mustang mystic
    nano nation native natural nebula nest net neuron nevada new next nickel night nike nimble noble node
    noon nordic north note nothing notion nova novel now nucleus oak oasis ocean octave old olive olympic
    omega on one onion onyx open opera optimum option oracle orange orbit orchard order origin orion otter
    outlook oval owl oxford oyster pace pacific page paint palm pan panda panther paper parade paradox
    paragon paramount park parker partner pass patch path patriot pattern pay peach peak pearl pelican
    penguin pepper perfect permanent phantom phoenix photon piano pick piedmont pilot pine pinnacle
    pioneer pixel plain plan planet plank platinum play plum plume plus pocket point polar pole pond pool
    poolside port portal post power prairie precision premier presto pride prime prism prize pro profile
    progress progressive promise prologis proof prosper protect proton provident public pulse pump pure
    quantum quarry quartz quest quick quiet quill quilt rain rainbow ranger rapid raven raw ray reach
    ready real realm reason red redwood reef reflex regal regent region relay rent republic resolve rest
    rev ridge ring ripple rise rival river road robin rock rocket root rose round rover row royal rubicon
    ruby run rush sage sail salt sand sapphire saturn savage scale scene schwab science scope scout screen
    sea seal search second seed select sense sentinel service set seven shadow shape share sharp shell
    shield shift shine ship shop short sierra signal signature signet silk silver simple six sketch sky
    slack slate sleep smart snap snow snowflake social sofa solar solid sol sonic soul sound source south
    southern space spark spectrum speed sphere spider spin spirit splash split spring sprint sprout square
    stack staff stage standard star stargate start state station steel stella step sterling stitch stone
    store storm strategy stream street stride strike stripe strong stryker studio style sublime success
    summit sun sunrise super surf surge swan sweet swift switch symbol sync synthesis system table tail
    talent tango target task taste team tech tempest tempo ten terra test theory thread three thrive
    thunder tide tiger time titan tnt toast token tool top topaz torch total touch tower town trace track
    trade trail train trane travelers travel tree trek tribe trident trigger trinity triumph true trust
    truth tulip tundra turbo turn twin twist two uber ultra umbrella unity union unique united universal
    up upstart upwork urban us valley value vanguard vector vega velocity venture venus verge verve vertex
    via vibe victory view viking village vine violet viper virgin virtue visa vision vista vital vivid
    voice void volt vortex voyage vulcan wall warp wave waters way web well west whale wheel whirlpool
    white wild willow wind windsurf window wing winter wire wise wish wolf wonder wood word work workday
    world wrap xerox yellow yield york young zebra zed zen zenith zero zinc zone zoom so be by for man aim
    cal dow ice gen see sam ben dan ed ford hilton campbell kraft hershey hess hyatt kellogg wells
    lemonade orange snap peloton chewy robinhood zoom
    """
)
"""Words, names of persons and of places that are names of companies and tools as well."""
