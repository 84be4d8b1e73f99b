/** What the views share: the place in the page, and answers of the API with their waiting and failing. */

import { useCallback, useEffect, useState } from "preact/hooks";
import { get, type Page, type Problem, type Query } from "./api";

export interface Place {
  view: string;
  id: string;
  query: URLSearchParams;
}

/** Read `#/view/id?query`. */
export function placeOf(hash: string): Place {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?", 2);
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
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return `#/${view}${id === "" ? "" : `/${encodeURIComponent(id)}`}${text === "" ? "" : `?${text}`}`;
}

export function go(view: string, id = "", query: Query = {}): void {
  location.hash = hashOf(view, id, query);
}

export function usePlace(): Place {
  const [place, setPlace] = useState(() => placeOf(location.hash));
  useEffect(() => {
    const moved = (): void => setPlace(placeOf(location.hash));
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);
  return place;
}

export interface Answer<T> {
  value: T | null;
  problem: Problem | null;
  waiting: boolean;
  again: () => void;
}

/** Load something whenever what it depends on changes; a late answer to an old question is dropped. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, on: readonly unknown[]): Answer<T> {
  const [state, setState] = useState<{ value: T | null; problem: Problem | null; waiting: boolean }>({
    value: null,
    problem: null,
    waiting: true,
  });
  const [turn, setTurn] = useState(0);
  const again = useCallback(() => setTurn((n) => n + 1), []);
  useEffect(() => {
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
  return { ...state, again };
}

/** One resource. */
export function useGet<T>(path: string, query: Query = {}): Answer<T> {
  return useLoad((signal) => get<T>(path, query, signal), [path, JSON.stringify(query)]);
}

export interface List<T> extends Answer<T[]> {
  more: (() => void) | null;
}

/** A list that grows by a page each time `more` is called. */
export function useList<T>(path: string, query: Query = {}): List<T> {
  const asked = `${path} ${JSON.stringify(query)}`;
  const [pages, setPages] = useState<{ asked: string; items: T[]; cursor: string | null }>({ asked, items: [], cursor: null });
  const [wanted, setWanted] = useState<{ asked: string; cursor: string | null }>({ asked, cursor: null });
  const cursor = wanted.asked === asked ? wanted.cursor : null;
  const answer = useLoad(async (signal) => {
    const page = await get<Page<T>>(path, { ...query, cursor }, signal);
    setPages((old) => ({
      asked,
      items: cursor !== null && old.asked === asked ? [...old.items, ...page.items] : page.items,
      cursor: page.next_cursor,
    }));
    return page.items;
  }, [asked, cursor]);
  const mine = pages.asked === asked;
  return {
    value: mine && (answer.value !== null || pages.items.length > 0) ? pages.items : null,
    problem: answer.problem,
    waiting: answer.waiting,
    again: answer.again,
    more: mine && pages.cursor !== null ? () => setWanted({ asked, cursor: pages.cursor }) : null,
  };
}
