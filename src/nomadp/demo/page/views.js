"use strict";
// What the collector learns: one query at a time, over the streets that all maps share.

const views = (() => {
  const path = (lines) => lines.map((line) => {
    const steps = [];
    for (let k = 0; k < line.length; k += 2) steps.push(`${line[k]} ${line[k + 1]}`);
    return `M${steps.join("L")}`;
  }).join("");

  /** Draws the ground once, in kilometres. Each map refers to it with its own transform. */
  function ground() {
    const { streets, avenues, river } = data.ground;
    const defs = svg("defs", {}, svg("g", { id: "ground" },
      svg("path", { class: "streets", d: path(streets) }),
      svg("path", { class: "water", d: `${path([river])}Z` }),
      svg("path", { class: "streets avenues", d: path(avenues) })));
    document.body.append(svg("svg", { class: "unseen", "aria-hidden": "true" }, defs));
  }

  function start() {
    ground();
    const panels = [...document.querySelectorAll(".view")];
    const show = (name) => {
      for (const panel of panels) panel.hidden = panel.id !== `view-${name}`;
    };
    const pick = radios(byId("choose-view"), "view", data.views.map(({ name, label }) =>
      ({ value: name, label })), show);
    pick(data.views[0].name);
    show(data.views[0].name);
  }

  return { start };
})();
