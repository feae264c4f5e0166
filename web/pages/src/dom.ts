/** Creates elements. Text is never parsed as HTML, so text from the network is safe. */

type Child = Node | string | null | undefined;
type Attribute = string | number | boolean | undefined | ((event: never) => void);

function fill(
  element: Element,
  attributes: Record<string, Attribute>,
  children: readonly Child[],
): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name, value as EventListener);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(...children.filter((child): child is Node | string => child != null));
}

/** An HTML element. An attribute whose value is a function is a listener of that event. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** An SVG element. */
export function svg(
  tag: string,
  attributes: Record<string, Attribute> = {},
  ...children: Child[]
): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes, children);
  return element;
}

/** Replace the children of an element. */
export function show(place: Element, ...children: Child[]): void {
  place.replaceChildren(...children.filter((child): child is Node | string => child != null));
}

export function count(number: number): string {
  return number.toLocaleString("en");
}

export function plural(number: number, one: string, many = `${one}s`): string {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** Put a no-break space between each number and its percent sign. */
export function unbroken<Text extends string | undefined>(text: Text): Text {
  return text?.replaceAll(/(\d) %/g, "$1\u00a0%") as Text;
}
