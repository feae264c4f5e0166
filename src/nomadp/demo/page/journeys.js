"use strict";
// The comparison: one true journey and its report.

const journeys = (() => {
  // When the report changes, its points glide from their old places to the new ones.
  let from = null;
  let target = null;
  let started = -Infinity;
  const GLIDE_MS = 420;

  function trueMap(map) {
    const ink = colour("ink");
    data.journeys.forEach(({ places }, index) => {
      if (index !== store.state.journey) {
        map.line(places.map((p) => map.place(p)), { ink, width: 1.25, alpha: 0.055 });
      }
    });
    map.journey(spotsOf(map, chosen().places), ink, store.state.point);
  }

  function reportedMap(map) {
    const { state } = store;
    const ink = colour(state.mechanism);
    const truth = spotsOf(map, chosen().places);
    const spots = currentSpots().map(([x, y]) => map.at(x, y));
    if (state.cloud) {
      for (let draw = 0; draw < data.draws; draw += 1) {
        if (draw !== state.draw) {
          map.line(spotsOf(map, reportOf(state, draw).places), { ink, width: 1.25, alpha: 0.28 });
        }
      }
    }
    if (state.shift) {
      const soft = colour("soft");
      map.line(truth, { ink: soft, width: 1.25, alpha: 0.55 });
      truth.forEach((spot, step) => map.line([spot, spots[step]], { ink, width: 1.25, dash: [1, 5] }));
      truth.forEach((spot) => map.ring(spot, soft));
    }
    map.journey(spots, ink, state.point);
  }

  const chosen = () => data.journeys[store.state.journey];
  const spotsOf = (map, places) => places.map((place) => map.place(place));

  /** The current positions of the reported points during a glide, in kilometres. */
  function currentSpots() {
    const done = Math.min(1, (performance.now() - started) / GLIDE_MS);
    const eased = 1 - (1 - done) ** 3;
    return target.map((place, step) => {
      const [x, y] = [data.places.x[place], data.places.y[place]];
      if (done === 1) return [x, y];
      const [x0, y0] = from[Math.min(step, from.length - 1)];
      return [x0 + (x - x0) * eased, y0 + (y - y0) * eased];
    });
  }

  function glideTo(places, redraw) {
    from = target && currentSpots();
    target = places;
    started = from && !reducedMotion.matches ? performance.now() : -Infinity;
    const frame = () => {
      redraw();
      if (target === places && performance.now() - started < GLIDE_MS) requestAnimationFrame(frame);
    };
    frame();
  }

  function table(state) {
    const { places, error_km } = reportOf(state);
    const central_km = data.central_km[state.journey];
    const widest = Math.max(...error_km, ...central_km, 0.001);
    byId("point-errors").replaceChildren(...places.map((place, step) => {
      const bar = html("span", { class: "bar" });
      bar.style.width = `${(100 * error_km[step]) / widest}%`;
      const tick = html("span", { class: "tick", title: `baseline: ${km(central_km[step])}` });
      tick.style.left = `${(100 * central_km[step]) / widest}%`;
      return html("tr", {
        onpointerenter: () => store.set({ point: step }),
        onpointerleave: () => store.set({ point: null }),
      },
      html("th", { scope: "row" }, String(step + 1)),
      html("td", {}, data.places.id[chosen().places[step]]),
      html("td", {}, data.places.id[place]),
      html("td", { class: "number" }, km(error_km[step])),
      html("td", { class: "bars" }, html("span", { class: "track" }, bar, tick)));
    }));
  }

  function describe(state) {
    const { places, error_km } = reportOf(state);
    const journey = chosen();
    const [sent, central] = [mean(error_km), mean(data.central_km[state.journey])];
    const label = mechanismOf(state).label;
    byId("journey-name").replaceChildren(
      html("b", {}, `Journey ${state.journey + 1}`), ` of ${data.journeys.length}`,
      html("span", {}, ` · ${plural(places.length, "point")}, ${km(journey.km)} long`));
    byId("reported-caption").textContent =
      `${label} at ε = ${state.epsilon}, report ${state.draw + 1} of ${data.draws}`;
    byId("mean-error").replaceChildren(sent.toFixed(1), html("small", {}, " km off, on average"));
    byId("error-sentence").textContent = `The constant baseline, which always answers with the most `
      + `central place, is ${km(central)} off. This report is `
      + (sent < central ? "closer to the truth." : "no closer to the truth.");
    byId("mechanism-title").textContent = mechanismOf(state).title;
    byId("map-true").setAttribute("aria-label",
      `Map of the true journey ${state.journey + 1}: ${plural(places.length, "point")}, `
      + `${km(journey.km)} long.`);
    byId("map-reported").setAttribute("aria-label",
      `Map of the journey as reported by ${label} at epsilon ${state.epsilon}: `
      + `on average ${km(sent)} from the truth.`);
    document.documentElement.style.setProperty("--mechanism", `var(--${state.mechanism})`);
  }

  function thumbnail({ places }) {
    const [x, y] = [places.map((p) => data.places.x[p]), places.map((p) => data.places.y[p])];
    const [west, east, south, north] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
    // Small journeys stay smaller than large ones, but large enough to recognise.
    const scale = Math.min(
      46 / Math.max(east - west, city.width / 4), 34 / Math.max(north - south, city.height / 4));
    const spots = places.map((p, k) =>
      [28 + (x[k] - (west + east) / 2) * scale, 22 - (y[k] - (south + north) / 2) * scale]);
    return svg("svg", { viewBox: "0 0 56 44", "aria-hidden": "true" },
      svg("path", { d: `M${spots.map((spot) => spot.map((v) => v.toFixed(1)).join(" ")).join("L")}` }),
      svg("circle", { cx: spots[0][0].toFixed(1), cy: spots[0][1].toFixed(1), r: 2.6 }));
  }

  function nearest(map, event) {
    const box = map.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let best = { distance: 14, journey: null, step: null };
    data.journeys.forEach(({ places }, journey) => places.forEach((place, step) => {
      const [px, py] = map.place(place);
      const distance = Math.hypot(px - x, py - y) - (journey === store.state.journey ? 6 : 0);
      if (distance < best.distance) best = { distance, journey, step };
    }));
    return best;
  }

  function hover(map, places, label) {
    map.canvas.addEventListener("pointermove", (event) => {
      if (event.buttons) return tip.hide();
      const box = map.canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      const step = places().findIndex((place) => {
        const [px, py] = map.place(place);
        return Math.hypot(px - x, py - y) < 13;
      });
      const point = step < 0 ? null : step;
      if (point !== store.state.point) store.set({ point });
      return point === null ? tip.hide() : tip.show(label(point), event.clientX, event.clientY);
    });
    map.canvas.addEventListener("pointerleave", () => {
      tip.hide();
      if (store.state.point !== null) store.set({ point: null });
    });
  }

  function start() {
    const left = new CityMap(byId("map-true"), trueMap);
    const right = new CityMap(byId("map-reported"), reportedMap);
    const around = (state) => [...chosen().places, ...reportOf(state).places]
      .map((place) => [data.places.x[place], data.places.y[place]]);
    const redraw = moveTogether([left, right], () => closeUp(left, around(store.state)));
    hover(left, () => chosen().places, (step) => `true point ${step + 1}`);
    hover(right, () => reportOf(store.state).places, (step) =>
      `reported point ${step + 1}: ${km(reportOf(store.state).error_km[step])} from the truth`);
    let pressed = null;
    left.canvas.addEventListener("pointerdown", (event) => { pressed = event; });
    left.canvas.addEventListener("click", (event) => {
      const dragged = Math.hypot(event.clientX - pressed.clientX, event.clientY - pressed.clientY) > 5;
      const { journey } = nearest(left, event);
      if (journey !== null && !dragged) store.set({ journey });
    });

    const count = data.journeys.length;
    const pick = radios(byId("choose-journey"), "journey", data.journeys.map((journey, index) => ({
      value: index, label: html("span", { class: "thumb" }, thumbnail(journey),
        html("span", { class: "unseen" }, `Journey ${index + 1}, ${plural(journey.places.length, "point")}`)),
    })), (journey) => store.set({ journey }));
    byId("previous").addEventListener("click", () =>
      store.set({ journey: (store.state.journey + count - 1) % count }));
    byId("next").addEventListener("click", () =>
      store.set({ journey: (store.state.journey + 1) % count }));
    byId("redraw").addEventListener("click", () =>
      store.set({ draw: (store.state.draw + 1) % data.draws }));
    for (const name of ["shift", "cloud"]) {
      byId(`show-${name}`).addEventListener("change", (event) => store.set({ [name]: event.target.checked }));
    }

    store.listen((state, changed) => {
      if (changed("journey")) {
        pick(state.journey);
        const strip = byId("choose-journey");
        const thumb = strip.querySelectorAll(".option")[state.journey];
        strip.scrollTo({ left: thumb.offsetLeft - strip.clientWidth / 2 });
      }
      if (changed("journey", "mechanism", "epsilon", "draw")) {
        if (changed("journey")) view.moved = false;
        // Keep the view of somebody who moved the maps, until they choose another journey.
        if (!view.moved && (changed("journey") || !around(state).every((spot) => inSight(left, spot)))) {
          closeUp(left, around(state));
        }
        table(state);
        describe(state);
        glideTo(reportOf(state).places, redraw);
      } else if (changed("shift", "cloud", "point")) redraw();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  }

  return { start };
})();
