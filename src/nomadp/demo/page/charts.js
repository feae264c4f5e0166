"use strict";
// Utility by epsilon, always beside the no-information baselines.

const charts = (() => {
  const HEIGHT = 340;
  const MARGIN = { top: 22, bottom: 42, left: 50 };
  const NARROW = 460;

  /** A round step that divides [0, top] into four to seven intervals. */
  function stepFor(top) {
    const rough = top / 5;
    const power = 10 ** Math.floor(Math.log10(rough));
    return power * ([1, 2, 5, 10].find((nice) => nice * power >= rough) || 10);
  }

  function marker(name, x, y, size) {
    const shapes = {
      exp: () => svg("circle", { cx: x, cy: y, r: size }),
      tp: () => svg("rect", { x: x - size * 0.9, y: y - size * 0.9, width: size * 1.8, height: size * 1.8 }),
    };
    const triangle = () => svg("path", {
      d: `M${x} ${y - size * 1.2}L${x + size * 1.15} ${y + size * 0.9}L${x - size * 1.15} ${y + size * 0.9}Z`,
    });
    return (shapes[name] || triangle)();
  }

  /** Moves labels apart, in the same order, so that none covers another. */
  function spread(labels, gap, bottom) {
    labels.sort((one, other) => one.y - other.y);
    labels.forEach((label, k) => {
      if (k) label.y = Math.max(label.y, labels[k - 1].y + gap);
    });
    for (let k = labels.length - 1; k >= 0; k -= 1) {
      const below = k === labels.length - 1 ? bottom : labels[k + 1].y - gap;
      labels[k].y = Math.min(labels[k].y, below);
    }
    return labels;
  }

  function frame(width, top, spec) {
    const epsilons = data.epsilons.map(Number);
    const highest = Math.max(...epsilons);
    const right = width - (width < NARROW ? 112 : 142);
    const bottom = HEIGHT - MARGIN.bottom;
    return {
      x: (epsilon) => MARGIN.left + ((right - MARGIN.left) * epsilon) / highest,
      y: (value) => bottom - ((bottom - MARGIN.top) * value) / top,
      left: MARGIN.left, right, bottom, top, width, spec, epsilons,
    };
  }

  function axes(at) {
    const group = svg("g", { class: "axes", "aria-hidden": "true" });
    const step = stepFor(at.top);
    for (let value = 0; value <= at.top * 1.0001; value += step) {
      const y = at.y(value);
      group.append(
        svg("line", { class: value ? "grid" : "base", x1: at.left, x2: at.right, y1: y, y2: y }),
        svg("text", { x: at.left - 8, y: y + 4, "text-anchor": "end" }, at.spec.format(value, step)));
    }
    for (const epsilon of at.epsilons) {
      const chosen = String(epsilon) === store.state.epsilon;
      group.append(svg("text", {
        x: at.x(epsilon), y: at.bottom + 20, "text-anchor": "middle", class: chosen ? "chosen" : null,
      }, String(epsilon)));
    }
    group.append(svg("text", { class: "axis-name", x: (at.left + at.right) / 2, y: at.bottom + 38,
      "text-anchor": "middle" }, "ε"));
    return group;
  }

  /** Shades where a report is less accurate than the better no-information baseline. */
  function worseThanBaseline(at, baselines) {
    const values = baselines.map(({ value }) => value);
    const [from, to] = at.spec.better === "lower"
      ? [at.y(at.top), at.y(Math.min(...values))] : [at.y(Math.max(...values)), at.bottom];
    const y = at.spec.better === "lower" ? from + 16 : to - 9;
    const ground = svg("rect",
      { class: "worse", x: at.left, y: from, width: at.right - at.left, height: Math.max(0, to - from) });
    const caption = svg("text", { class: "worse", x: at.left + 8, y, "aria-hidden": "true" },
      to - from > 24 ? "worse than no report" : "");
    return [ground, caption];
  }

  function baselineLine(at, { key, value }) {
    return svg("line", { class: `floor floor-${key}`, "data-series": key,
      x1: at.left, x2: at.right, y1: at.y(value), y2: at.y(value) });
  }

  function series(at, { name, label, values, half_width }) {
    const chosen = name === store.state.mechanism;
    const spots = values.map((value, k) => [at.x(at.epsilons[k]), at.y(value)]);
    const group = svg("g", { class: `series${chosen ? " chosen" : ""}`, "data-series": name });
    group.style.setProperty("--series", `var(--${name})`);
    group.append(svg("path", { class: "curve", d: `M${spots.map((spot) => spot.join(" ")).join("L")}` }));
    spots.forEach(([x, y], k) => {
      const half = half_width[k];
      if (half) {
        const [low, high] = [Math.max(0, values[k] - half), values[k] + half];
        group.append(svg("line", { class: "whisker", x1: x, x2: x, y1: at.y(high), y2: at.y(low) }));
      }
      const isCurrent = chosen && data.epsilons[k] === store.state.epsilon;
      const mark = marker(name, x, y, isCurrent ? 6.5 : 4);
      mark.setAttribute("class", isCurrent ? "mark here" : "mark");
      const sentence = `${label} at ε = ${data.epsilons[k]}: ${at.spec.format(values[k])}`
        + (half ? ` ± ${at.spec.format(half)}` : "");
      group.append(mark, svg("circle", {
        class: "target", cx: x, cy: y, r: 14,
        onclick: () => store.set({ mechanism: name, epsilon: data.epsilons[k] }),
        onpointermove: (event) => tip.show(sentence, event.clientX, event.clientY),
        onpointerleave: () => tip.hide(),
      }));
    });
    return group;
  }

  function labels(at, lines, baselines) {
    const all = [
      ...lines.map(({ name, label, values }) => ({ text: label, value: values.at(-1), name })),
      ...baselines.map(({ label, value }) => ({ text: label, value })),
    ].map((one) => ({ ...one, y: at.y(one.value), start: at.y(one.value) }));
    const group = svg("g", { class: "labels", "aria-hidden": "true" });
    for (const { text, name, y, start } of spread(all, 17, at.bottom)) {
      const label = svg("text",
        { x: at.right + 22, y: y + 4, class: name ? "label-series" : "label-floor" }, text);
      const lead = svg("path", { class: "leader", d: `M${at.right + 3} ${start}L${at.right + 17} ${y}` });
      if (name) for (const node of [label, lead]) node.style.setProperty("--series", `var(--${name})`);
      if (name === store.state.mechanism) label.classList.add("chosen");
      group.append(lead, label);
    }
    return group;
  }

  function draw(host, spec) {
    const width = host.clientWidth;
    if (!width) return;
    const lines = spec.lines();
    const baselines = spec.baselines();
    const highest = Math.max(...baselines.map(({ value }) => value),
      ...lines.flatMap(({ values, half_width }) => values.map((value, k) => value + half_width[k])));
    const step = stepFor(highest * 1.05);
    const at = frame(width, Math.ceil((highest * 1.05) / step) * step, spec);
    const chosenX = at.x(Number(store.state.epsilon));
    lines.sort((one, other) => (one.name === store.state.mechanism) - (other.name === store.state.mechanism));
    const description = spec.describe(lines, baselines);
    const [worse, worseCaption] = worseThanBaseline(at, baselines);
    host.replaceChildren(svg("svg", { width, height: HEIGHT, role: "img", "aria-label": description },
      worse, axes(at),
      svg("line", { class: "now", x1: chosenX, x2: chosenX, y1: MARGIN.top, y2: at.bottom }),
      ...baselines.map((baseline) => baselineLine(at, baseline)),
      ...lines.map((line) => series(at, line)),
      worseCaption, labels(at, lines, baselines)));
  }

  function baselinesOf(values, format) {
    return [
      { key: "constant", label: `constant ${format(values.constant)}`, value: values.constant },
      { key: "uniform", label: `uniform ${format(values.uniform)}`, value: values.uniform },
    ];
  }

  function describe(what, format) {
    return (lines, baselines) => `${what} by epsilon. ${lines.map(({ label, values }) =>
      `${label} from ${format(values[0])} at epsilon ${data.epsilons[0]} to ${format(values.at(-1))} `
      + `at epsilon ${data.epsilons.at(-1)}`).join("; ")}. Baselines without any information: ${
      baselines.map(({ label }) => label).join(", ")}. The table below has the numbers.`;
  }

  const decimals = (step) => Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const plain = (value, step) => value.toFixed(step ? decimals(step) : 3);
  const percent = (value, step) => `${value.toFixed(step ? decimals(step) : 1)} %`;
  const { curves } = data;

  const errorSpec = {
    format: plain, better: "lower", describe: describe("Normalised error", plain),
    lines: () => data.mechanisms.map(({ name, label }) => ({
      name, label, values: curves.error[name], half_width: curves.error_half_width[name],
    })),
    baselines: () => baselinesOf(curves.floors.error, plain),
  };

  const rangeSpec = {
    format: percent, better: "higher",
    describe: (...parts) => describe(`Share of points within ${store.state.radius} km`, percent)(...parts),
    lines: () => data.mechanisms.map(({ name, label }) => ({
      name, label,
      values: curves.range[name][curves.radii_km.indexOf(store.state.radius)],
      half_width: curves.range_half_width[name][curves.radii_km.indexOf(store.state.radius)],
    })),
    baselines: () => {
      const k = curves.radii_km.indexOf(store.state.radius);
      const { constant, uniform } = curves.floors.range;
      return baselinesOf({ constant: constant[k], uniform: uniform[k] }, percent);
    },
  };

  function start() {
    const pick = radios(byId("choose-radius"), "radius",
      curves.radii_km.map((radius) => ({ value: radius, label: `${radius} km` })),
      (radius) => store.set({ radius }));
    const redraw = () => {
      draw(byId("chart-error"), errorSpec);
      draw(byId("chart-range"), rangeSpec);
    };
    store.listen((state, changed) => {
      if (changed("radius")) pick(state.radius);
      if (changed("mechanism", "epsilon", "radius")) redraw();
    });
    new ResizeObserver(redraw).observe(byId("chart-error"));
  }

  return { start };
})();
