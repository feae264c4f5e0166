/** Elements, made of text: nothing that came over the network is ever read as markup. */

type Child = Node | string | null | undefined;
type Told = string | number | boolean | undefined | ((event: never) => void);

function fill(made: Element, told: Record<string, Told>, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(told)) {
    if (typeof value === "function") {
      made.addEventListener(name, value as EventListener);
    } else if (value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  made.append(...children.filter((each): each is Node | string => each != null));
}

/** An element of HTML; a function among what is told of it listens to the event of its name. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  told: Record<string, Told> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  fill(made, told, children);
  return made;
}

/** The same of SVG. */
export function svg(
  tag: string,
  told: Record<string, Told> = {},
  ...children: Child[]
): SVGElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(made, told, children);
  return made;
}

/** Put these in the place of all that is there. */
export function show(place: Element, ...children: Child[]): void {
  place.replaceChildren(...children.filter((each): each is Node | string => each != null));
}

export function count(number: number): string {
  return number.toLocaleString("en");
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** No line ends between a number and its percent sign. */
export function unbroken<Text extends string | undefined>(text: Text): Text {
  return text?.replaceAll(/(\d) %/g, "$1\u00a0%") as Text;
}
