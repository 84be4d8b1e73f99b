/** What the views share: the place in the page, and answers of the API with their waiting and failing. */

import { useCallback, useEffect, useState } from "preact/hooks";
import { get, queryText, type Page, type Problem, type Query } from "./api";

export interface Place {
  view: string;
  id: string;
  query: URLSearchParams;
}

/** Read `#/view/id?query`. */
export function placeOf(hash: string): Place {
  const whole = hash.replace(/^#\/?/, "");
  const cut = whole.indexOf("?");
  const [path, query] = cut < 0 ? [whole, ""] : [whole.slice(0, cut), whole.slice(cut + 1)];
  const [view = "", ...rest] = path.split("/");
  return { view: view || "articles", id: decoded(rest.join("/")), query: new URLSearchParams(query) };
}

/** Undo percent-encoding; a text that is none, in an address that somebody typed or cut off, stays as it is. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function hashOf(view: string, id = "", query: Query = {}): string {
  return `#/${view}${id === "" ? "" : `/${encodeURIComponent(id)}`}${queryText(query)}`;
}

export function go(view: string, id = "", query: Query = {}): void {
  location.hash = hashOf(view, id, query);
}

/** The name of the present entry of the browser's history: who comes back to it finds the same name. */
function entry(): string {
  const state: unknown = history.state;
  if (typeof state === "object" && state !== null && "entry" in state) return String(state.entry);
  const name = crypto.randomUUID();
  history.replaceState({ entry: name }, "");
  return name;
}

const heights = new Map<string, number>();

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    let here = entry();
    const moved = (): void => {
      here = entry();
      setPlace(placeOf(location.hash));
      const height = heights.get(here) ?? 0;
      // Two frames: the view is drawn first, with the lists that were kept for it.
      requestAnimationFrame(() => requestAnimationFrame(() => scrollTo({ top: height, behavior: "instant" })));
    };
    const scrolled = (): unknown => heights.set(here, scrollY);
    addEventListener("hashchange", moved);
    addEventListener("scroll", scrolled, { passive: true });
    return () => {
      removeEventListener("hashchange", moved);
      removeEventListener("scroll", scrolled);
    };
  }, []);
  return place;
}

export interface Answer<T> {
  value: T | null;
  problem: Problem | null;
  waiting: boolean;
  again: () => void;
}

interface State<T> {
  value: T | null;
  problem: Problem | null;
  waiting: boolean;
}

/**
 * Load something whenever what it depends on changes, a token is entered, or the network is back; a late answer
 * to an old question is dropped.
 */
export function useLoad<T>(
  load: (signal: AbortSignal) => Promise<T>,
  on: readonly unknown[],
  first: T | null = null,
): Answer<T> {
  const [state, setState] = useState<State<T>>({ value: first, problem: null, waiting: first === null });
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  const [begun] = useState(() => JSON.stringify(on));
  const isKept = first !== null && turn === 0 && begun === JSON.stringify(on);
  useEffect(() => {
    if (isKept) return undefined;
    const controller = new AbortController();
    setState((old) => ({ ...old, waiting: true }));
    load(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) setState({ value, problem: null, waiting: false });
      },
      (problem: Problem) => {
        if (!controller.signal.aborted) setState({ value: null, problem, waiting: false });
      },
    );
    return () => controller.abort();
  }, [...on, turn]);
  useEffect(() => {
    addEventListener("tokenchange", again);
    return () => removeEventListener("tokenchange", again);
  }, []);
  const offline = state.problem?.status === 0;
  useEffect(() => {
    if (!offline) return undefined;
    addEventListener("online", again);
    return () => removeEventListener("online", again);
  }, [offline]);
  return { ...state, again };
}

/** One resource. */
export function useGet<T>(path: string, query: Query = {}): Answer<T> {
  return useLoad((signal) => get<T>(path, query, signal), [path, JSON.stringify(query)]);
}

/** Ask again every few seconds while something holds: what runs is watched to its end. */
export function useWatch(answer: Answer<unknown>, active: boolean, seconds = 2): void {
  const { again } = answer;
  useEffect(() => {
    if (!active) return undefined;
    const timer = setInterval(() => {
      if (!document.hidden) again();
    }, seconds * 1000);
    return () => clearInterval(timer);
  }, [active, again, seconds]);
}

export interface List<T> extends Answer<T[]> {
  more: (() => void) | null;
}

interface Pages {
  items: unknown[];
  cursor: string | null;
}

/** Lists as they were left, by the entry of the history: Back shows all that "Show more" had brought. */
const left = new Map<string, Pages>();

/** Load all lists anew when they are shown again: something that they hold has changed. */
export function forgetLists(): void {
  left.clear();
}

/** A list that grows by a page each time `more` is called. */
export function useList<T>(path: string, query: Query = {}): List<T> {
  const asked = `${path} ${JSON.stringify(query)}`;
  const [here] = useState(entry);
  const [kept] = useState(() => left.get(`${here} ${asked}`) ?? null);
  const [pages, setPages] = useState<{ asked: string; items: T[]; cursor: string | null }>({
    asked,
    items: (kept?.items ?? []) as T[],
    cursor: kept?.cursor ?? null,
  });
  const [wanted, setWanted] = useState<{ asked: string; cursor: string | null }>({ asked, cursor: null });
  const cursor = wanted.asked === asked ? wanted.cursor : null;
  const answer = useLoad(
    async (signal) => {
      const page = await get<Page<T>>(path, { ...query, cursor }, signal);
      setPages((old) => ({
        asked,
        items: cursor !== null && old.asked === asked ? [...old.items, ...page.items] : page.items,
        cursor: page.next_cursor,
      }));
      return page.items;
    },
    [asked, cursor],
    kept === null ? null : (kept.items as T[]),
  );
  const mine = pages.asked === asked;
  useEffect(() => {
    if (mine && answer.value !== null) left.set(`${entry()} ${asked}`, pages);
  }, [pages, answer.value]);
  return {
    value: mine && (answer.value !== null || pages.items.length > 0) ? pages.items : null,
    problem: answer.problem,
    waiting: answer.waiting,
    again: () => {
      if (cursor !== null) setWanted({ asked, cursor: null });
      answer.again();
    },
    more: mine && pages.cursor !== null ? () => setWanted({ asked, cursor: pages.cursor }) : null,
  };
}
