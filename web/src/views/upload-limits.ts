/** What uploads take. Made by web/make_upload_limits.py: `make docs`. */

export const MOST_FILES = 50;

export const KINDS = {
  "photometry": {
    "suffixes": [
      ".csv",
      ".tsv",
      ".txt",
      ".dat",
      ".aavso",
      ".vot",
      ".xml",
      ".votable"
    ],
    "largest": 20000000
  },
  "spectrum": {
    "suffixes": [
      ".fits",
      ".fit",
      ".fts",
      ".gz",
      ".zip"
    ],
    "largest": 100000000
  }
} as const;
