/** A feed, and what its troubles mean to a person. */

export interface Feed {
  feed_id: string;
  health: string;
  url: string;
  name: string | null;
  kind: string;
  priority: number;
  tags: string[];
  enabled: boolean;
  interval_minutes: number | null;
  next_fetch_time: string;
  last_fetch_at: string | null;
  last_success_at: string | null;
  last_change_at: string | null;
  last_cause: string | null;
  last_error: string | null;
  consecutive_errors: number;
  unchanged_count: number;
  fetch_count: number;
  avg_articles_per_fetch: number;
  last_entries: number;
  created_total: number;
  merged_total: number;
  rate: number;
  publications_by_hour: number[];
}

/** What has failed, and what a person does about it, by the cause that a fetch was given. */
const ADVICE: Record<string, readonly [string, string]> = {
  timeout: ["It took too long to answer.", "Nothing to do: it is asked again by itself."],
  dns: ["The name of its host is not known.", "Look whether the address is spelled right, or the site has moved."],
  connect: ["Its host takes no connection.", "Nothing to do for an hour or two; then look whether the site is up."],
  tls: ["Its certificate is not valid.", "Open the address in a browser. Where the site has a new name, change the address."],
  reset: ["The connection broke off.", "Nothing to do: it is asked again by itself."],
  truncated: ["The answer ended too early.", "Nothing to do: it is asked again by itself."],
  rate_limited: ["The server asks for fewer questions.", "It is obeyed. A longer interval keeps it from happening again."],
  server_error: ["The server has a trouble of its own.", "Nothing to do: it is asked again by itself."],
  not_found: ["There is nothing at this address any more.", "Find the feed's new address on its site, and change it here."],
  client_error: ["The server refuses to answer.", "Open the address in a browser. It may want a token, or let no program in."],
  challenged: ["The server lets people in and no programs.", "Ask the publisher for an address that programs may read."],
  gone: ["The server says that the feed is gone for good.", "Find the feed's new address on its site, or delete it."],
  blocked_address: ["The address is of a private network.", "Use a public address, or let the network be allowed at deployment."],
  blocked_port: ["The address has a port that is not asked.", "Use the usual ports, 80 and 443."],
  invalid_url: ["The address is none.", "Correct it."],
  too_large: ["The document is too large.", "Look for a shorter feed on the site."],
  too_many_redirects: ["It is sent from address to address.", "Open it in a browser, and use the address where that ends."],
  bad_redirect: ["It is sent to an address that may not be asked.", "Open it in a browser, and use the address where that ends."],
  not_a_feed: ["What is there is no feed.", "Add the site again by its address: what it announces now is looked for."],
};

export function advice(cause: string | null): readonly [string, string] {
  return ADVICE[cause ?? ""] ?? ["The last fetch failed.", "Read below what was answered, and open the address in a browser."];
}

export const HEALTH: Record<string, string> = { new: "plain", healthy: "positive", failing: "warn", disabled: "negative" };
