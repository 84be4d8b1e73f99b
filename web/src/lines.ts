/** Emission lines by which a nova's spectrum is known, in nanometres in air. */

import type { Mark } from "./chart";

export const LINES: readonly (readonly [string, readonly Mark[]])[] = [
  [
    "Balmer",
    [
      { at: 656.28, label: "Hα" },
      { at: 486.13, label: "Hβ" },
      { at: 434.05, label: "Hγ" },
      { at: 410.17, label: "Hδ" },
    ],
  ],
  [
    "He",
    [
      { at: 447.15, label: "He I" },
      { at: 468.57, label: "He II" },
      { at: 587.56, label: "He I" },
      { at: 667.82, label: "He I" },
      { at: 706.52, label: "He I" },
    ],
  ],
  [
    "Fe II",
    [
      { at: 492.39, label: "Fe II" },
      { at: 501.84, label: "Fe II" },
      { at: 516.9, label: "Fe II" },
    ],
  ],
  [
    "[O III], [N II], O I",
    [
      { at: 436.32, label: "[O III]" },
      { at: 495.89, label: "[O III]" },
      { at: 500.68, label: "[O III]" },
      { at: 575.46, label: "[N II]" },
      { at: 777.4, label: "O I" },
      { at: 844.6, label: "O I" },
    ],
  ],
];
