/** Places on the sky and dates, as astronomers write them. */

/** Right ascension in hours, minutes and seconds: 17h 50m 53.90s. */
export function hours(degrees: number): string {
  return sexagesimal(degrees / 15, ["h", "m", "s"], 2);
}

/** Declination in degrees, arcminutes and arcseconds: −32° 37′ 20.5″. */
export function arc(degrees: number): string {
  return `${degrees < 0 ? "−" : "+"}${sexagesimal(Math.abs(degrees), ["°", "′", "″"], 1)}`;
}

/** Rounded as a whole, so that no 60 stands where a 0 and one more should. */
function sexagesimal(value: number, [whole, minute, second]: readonly [string, string, string], digits: number): string {
  const scale = 10 ** digits;
  const parts = Math.round(value * 3600 * scale);
  const two = (number: number): string => String(number).padStart(2, "0");
  const seconds = (parts % (60 * scale)) / scale;
  return `${two(Math.floor(parts / (3600 * scale)))}${whole} ${two(Math.floor(parts / (60 * scale)) % 60)}${minute} ${seconds.toFixed(digits).padStart(3 + digits, "0")}${second}`;
}

/** Seconds since 1970 of a Modified Julian Date. */
export function secondsOf(mjd: number): number {
  return (mjd - 40_587) * 86_400;
}

/** What is known of a date of discovery: a day 00 says that only the month is known. */
export function discovered(date: string | null): string {
  return date === null ? "–" : date.replace(/-00$/, "");
}

export function simbad(ra: number, dec: number): string {
  return `https://simbad.cds.unistra.fr/simbad/sim-coo?Coord=${encodeURIComponent(`${ra} ${dec}`)}&CooFrame=ICRS&Radius=10&Radius.unit=arcsec`;
}

export function simbadByName(name: string): string {
  return `https://simbad.cds.unistra.fr/simbad/sim-id?Ident=${encodeURIComponent(name)}`;
}

export function adsAbstract(bibcode: string): string {
  return `https://ui.adsabs.harvard.edu/abs/${encodeURIComponent(bibcode)}`;
}

export function ads(name: string): string {
  return `https://ui.adsabs.harvard.edu/search/q=${encodeURIComponent(`object:"${name.replaceAll('"', "")}"`)}&sort=date%20desc`;
}
