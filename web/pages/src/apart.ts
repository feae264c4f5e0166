/**
 * Whether a row is told apart from flat, which is what anybody would say without reports.
 *
 * How wide a row's interval is says nothing of that, and the interval of one row nothing of all:
 * of many, some leave flat out by chance.
 */
import type { Answer, Drawn } from "./api";

const WIDTH_COLUMN = "How sure";
const COLUMN = "From flat";
const WORDS = { yes: "told apart", perhaps: "may be chance", no: "not told apart" };

/** What is drawn, with that instead of how wide each interval is. */
export function toldApart({ columns, about, drawn }: Answer): Drawn {
  const at = drawn.head.findIndex(({ name }) => name === WIDTH_COLUMN);
  const apart = columns.told_apart;
  if (at < 0 || !apart) return drawn;
  const flat = about.flat as { is_told_apart?: boolean } | undefined;
  const yes = flat?.is_told_apart === false ? WORDS.perhaps : WORDS.yes;
  return {
    ...drawn,
    head: drawn.head.with(at, { name: COLUMN, number: false }),
    rows: drawn.rows.map(({ row, cells }) => ({
      row,
      cells: cells.with(at, apart[row] ? yes : WORDS.no),
    })),
  };
}
