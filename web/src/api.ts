/** The HTTP API as the page sees it: same origin, JSON, problem details. */

const TOKEN = "sourcebook.token";

/** An answer other than 2xx, in the server's own words. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    message: string,
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

/** Keep a token until the tab is closed; an empty one is forgotten. */
export function keepToken(value: string): void {
  if (value === "") sessionStorage.removeItem(TOKEN);
  else sessionStorage.setItem(TOKEN, value);
}

export type Query = Record<string, string | number | null | undefined>;

/** The address of an operation, relative to the page, so that it works under any stage's path. */
export function address(path: string, query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `.${path}${text === "" ? "" : `?${text}`}`;
}

/**
 * Ask for something.
 * @throws Problem when the server says no, or says nothing.
 */
export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  return ask<T>(path, query, signal ? { signal } : {});
}

/**
 * Send something. Sent twice with one `key`, it is done once.
 * @throws Problem when the server says no, or says nothing.
 */
export async function post<T>(path: string, body: unknown, key: string): Promise<T> {
  return ask<T>(path, {}, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "Idempotency-Key": key },
  });
}

async function ask<T>(path: string, query: Query, init: RequestInit): Promise<T> {
  const headers = new Headers(init.headers);
  headers.set("Accept", "application/json");
  if (token() !== "") headers.set("Authorization", `Bearer ${token()}`);
  let response: Response;
  try {
    response = await fetch(address(path, query), { ...init, headers });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new Problem(0, "The server does not answer. Is the stack up? (make up)");
  }
  const text = await response.text();
  const content: unknown = parsed(text);
  if (!response.ok) throw new Problem(response.status, detail(content) ?? `Status ${response.status}`);
  return content as T;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function detail(content: unknown): string | undefined {
  if (typeof content !== "object" || content === null) return undefined;
  const fields = content as Record<string, unknown>;
  const said = fields["detail"] ?? fields["message"] ?? fields["title"];
  return typeof said === "string" ? said : undefined;
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
