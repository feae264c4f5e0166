"use strict";
// One bar per mechanism. Each segment is a draw, and its width is the draw's share of epsilon.

const budget = (() => {
  const stepsOf = (mechanism, length) => data.budget[mechanism][length];
  const epsilonOf = ([top, bottom]) => (Number(store.state.epsilon) * top) / bottom;
  const small = (value) => Number(value.toPrecision(3)).toString();
  const copyLabel = (copy) => (copy ? `copy ${copy}` : "whole journey");

  function explain(label, { name, copy, count, share }) {
    const epsilon = epsilonOf(share);
    return `${label}, ${copyLabel(copy)}: ${plural(count, `${name} draw`)} of ${fraction(...share)} ε `
      + `= ${small(epsilon)} each. One such draw changes the odds between any two journeys by at most `
      + `a factor of ${times(Math.exp(epsilon))}.`;
  }

  function segment(mechanism, step) {
    const [top, bottom] = step.share;
    const sentence = explain(mechanism.label, step);
    const share = (100 * step.count * top) / bottom;
    const part = html("span", {
      class: `segment segment-${step.name}`,
      tabindex: 0,
      role: "listitem",
      "aria-label": sentence,
      onpointermove: (event) => tip.show(sentence, event.clientX, event.clientY),
      onpointerleave: () => tip.hide(),
      onfocus: () => { byId("budget-detail").textContent = sentence; },
      onclick: () => { byId("budget-detail").textContent = sentence; },
    });
    part.style.flexGrow = share;
    for (let k = 0; k < step.count; k += 1) part.append(html("i", {}));
    const repeats = step.count > 1 ? ` × ${step.count}` : "";
    part.append(html("b", { "aria-hidden": "true" }, step.name + repeats),
      html("small", { "aria-hidden": "true" }, `${fraction(step.count * top, bottom)} ε`));
    return part;
  }

  function bar(mechanism, length) {
    const steps = stepsOf(mechanism.name, length);
    const copies = [...new Set(steps.map(({ copy }) => copy))];
    const name = html("span", { class: "bar-name" },
      html("b", {}, mechanism.label), html("small", {}, mechanism.title));
    name.style.setProperty("--series", `var(--${mechanism.name})`);
    const row = html("div", { class: "bar-row" }, name);
    const split = html("div",
      { class: "split", role: "list", "aria-label": `Budget of ${mechanism.label}` });
    for (const copy of copies) {
      const own = steps.filter((step) => step.copy === copy);
      const group = html("div", { class: "copy", role: "presentation" },
        ...own.map((step) => segment(mechanism, step)));
      group.style.flexGrow = own.reduce((sum, { count, share: [top, bottom] }) =>
        sum + (100 * count * top) / bottom, 0);
      split.append(group);
    }
    row.append(split);
    return row;
  }

  function rows(mechanism, length) {
    return stepsOf(mechanism.name, length).map(({ name, copy, count, share }) => html("tr", {},
      html("th", { scope: "row" }, mechanism.label), html("td", {}, copyLabel(copy)), html("td", {}, name),
      html("td", { class: "number" }, String(count)),
      html("td", { class: "number" }, fraction(...share)),
      html("td", { class: "number" }, small(epsilonOf(share))),
      html("td", { class: "number" }, small(count * epsilonOf(share)))));
  }

  function smallestShares({ epsilon, length }) {
    const smallest = data.mechanisms.map(({ name, label }) => {
      const smallestShare = Math.min(...stepsOf(name, length).map(({ share }) => epsilonOf(share)));
      return `${label} ${small(smallestShare)} (odds × ${times(Math.exp(smallestShare))})`;
    });
    return `At ε = ${epsilon} and ${plural(length, "point")}, the smallest share of one draw is `
      + `${smallest.join(", ")}. Point at a segment to see its exact share.`;
  }

  function legend() {
    const kinds = new Set(data.mechanisms.flatMap(({ name }) =>
      Object.values(data.budget[name]).flatMap((steps) => steps.map((step) => step.name))));
    const meaning = {
      anchor: "the middle of the journey's region", radius: "the size of the region",
      pivot: "a place anywhere in the region", direction: "the direction from a pivot to a point",
      point: "a place inside the reported sectors (EXP: anywhere)",
      journey: "all places of a journey at once",
    };
    for (const kind of Object.keys(meaning).filter((name) => kinds.has(name))) {
      byId("budget-legend").append(html("li", {},
        html("span", { class: `swatch segment-${kind}`, "aria-hidden": "true" }),
        html("b", {}, kind), ` ${meaning[kind]}`));
    }
  }

  function start() {
    legend();
    const lengths = Object.keys(data.budget[data.mechanisms[0].name]).map(Number);
    Object.assign(byId("length"), { min: Math.min(...lengths), max: Math.max(...lengths) });
    byId("length").addEventListener("input", (event) => store.set({ length: Number(event.target.value) }));
    store.listen((state, changed) => {
      if (!changed("length", "epsilon")) return;
      byId("length").value = state.length;
      byId("length-value").textContent = state.length;
      byId("budget").replaceChildren(...data.mechanisms.map((mechanism) => bar(mechanism, state.length)));
      byId("budget-detail").textContent = smallestShares(state);
      byId("shares-caption").textContent =
        `Exact shares at ε = ${state.epsilon} for ${plural(state.length, "point")}.`;
      byId("shares").replaceChildren(...data.mechanisms.flatMap((mechanism) => rows(mechanism, state.length)));
    });
  }

  return { start };
})();
