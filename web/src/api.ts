/** The HTTP API as the page sees it: same origin, JSON, problem details. */

const TOKEN = "sourcebook.token";

/** An answer other than 2xx, in the server's own words. Its status is 0 where nobody answered. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
    /** Finds the request in the operator's logs. */
    readonly correlation: string | null = null,
    /** Seconds after which it may be asked again. */
    readonly after: number | null = null,
    /** The field or parameter that is wrong. */
    readonly parameter: string | null = null,
  ) {
    super(message);
  }

  /** Whether a token would help. */
  get wantsToken(): boolean {
    return this.status === 401 || this.status === 403;
  }
}

export interface Page<T> {
  items: T[];
  next_cursor: string | null;
}

export function token(): string {
  return sessionStorage.getItem(TOKEN) ?? "";
}

/** Keep a token until the tab is closed; an empty one is forgotten. What is shown is asked for anew. */
export function keepToken(value: string): void {
  if (value === "") sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, value);
  dispatchEvent(new Event("tokenchange"));
}

export type Query = Record<string, string | number | null | undefined>;

/** Those of a query's members that say something, as they stand in an address. */
export function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === "" ? "" : `?${text}`;
}

/** The address of an operation, relative to the page, so that it works under any stage's path. */
export function address(path: string, query: Query = {}): string {
  return `.${path}${queryText(query)}`;
}

/**
 * Ask for something.
 * @throws Problem when the server says no, or says nothing.
 */
export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return parsed(await (await ask(path, query, signal ? { signal } : {})).text()) as T;
}

export interface Sending {
  method: "POST" | "PATCH" | "DELETE";
  body?: unknown;
  /** Sent twice with one key, it is done once. */
  key?: string;
  type?: string;
}

/**
 * Send something.
 * @throws Problem when the server says no, or says nothing.
 */
export async function send<T>(path: string, { method, body, key, type = "application/json" }: Sending): Promise<T> {
  const headers: Record<string, string> = body === undefined ? {} : { "Content-Type": type };
  if (key !== undefined) headers["Idempotency-Key"] = key;
  const init: RequestInit = { method, headers };
  if (body !== undefined) init.body = typeof body === "string" ? body : JSON.stringify(body);
  return parsed(await (await ask(path, {}, init)).text()) as T;
}

/**
 * Ask for a file.
 * @throws Problem when the server says no, or says nothing.
 */
export async function getFile(path: string, query: Query = {}, signal?: AbortSignal): Promise<Blob> {
  return (await ask(path, query, { headers: { Accept: "*/*" }, ...(signal ? { signal } : {}) })).blob();
}

async function ask(path: string, query: Query, init: RequestInit): Promise<Response> {
  const headers = new Headers(init.headers);
  if (!headers.has("Accept")) headers.set("Accept", "application/json");
  if (token() !== "") headers.set("Authorization", `Bearer ${token()}`);
  let response: Response;
  try {
    response = await fetch(address(path, query), { ...init, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, navigator.onLine ? "The server does not answer." : "You are offline.");
  }
  if (!response.ok) {
    const content = parsed(await response.text());
    const after = Number(response.headers.get("retry-after") ?? "");
    throw new Problem(
      response.status,
      text(content, "detail", "message", "title") ?? `Status ${response.status}`,
      text(content, "correlation_id") ?? response.headers.get("x-correlation-id"),
      Number.isFinite(after) && after > 0 ? after : null,
      text(content, "parameter"),
    );
  }
  return response;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function text(content: unknown, ...names: string[]): string | null {
  if (typeof content !== "object" || content === null) return null;
  const fields = content as Record<string, unknown>;
  const found = names.map((name) => fields[name]).find((value) => typeof value === "string");
  return typeof found === "string" ? found : null;
}

/** Follow a list to its end, or to `most` items. */
export async function all<T>(path: string, query: Query = {}, most = 2000, signal?: AbortSignal): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await get<Page<T>>(path, { ...query, limit: 100, cursor }, signal);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor !== null && items.length < most);
  return items;
}
