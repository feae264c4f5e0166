"use strict";
// The state that all parts of the page share. Every part that draws listens for changes.

const data = JSON.parse(byId("payload").textContent);

const store = (() => {
  const listeners = [];
  const state = {
    journey: 0,
    mechanism: data.mechanisms[data.mechanisms.length - 1].name,
    epsilon: data.epsilons[Math.floor(data.epsilons.length / 2)],
    draw: 0,
    length: data.journeys[0].places.length,
    radius: data.curves.radii_km[Math.min(1, data.curves.radii_km.length - 1)],
    shift: true,
    cloud: false,
    point: null,
  };

  function set(changes) {
    const before = { ...state };
    if ("journey" in changes && !("length" in changes)) {
      changes.length = data.journeys[changes.journey].places.length;
    }
    if ("journey" in changes && !("draw" in changes)) changes.draw = 0;
    Object.assign(state, changes);
    const changed = (...keys) => keys.some((key) => state[key] !== before[key]);
    for (const listener of listeners) listener(state, changed);
  }

  function listen(listener) {
    listeners.push(listener);
    listener(state, () => true);
  }

  return { state, set, listen };
})();

const mechanismOf = (state) => data.mechanisms.find(({ name }) => name === state.mechanism);

/** The places and errors of one report of the chosen journey. */
function reportOf(state, draw = state.draw) {
  const [places, error_km] = data.reports[state.mechanism][state.epsilon][state.journey][draw];
  return { places, error_km };
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** "#journey=3&mechanism=tp&epsilon=4" in the address opens the page on that choice. */
function choiceInAddress() {
  const parameters = new URLSearchParams(location.hash.slice(1));
  const choice = {};
  const journey = Number(parameters.get("journey")) - 1;
  if (data.journeys[journey]) choice.journey = journey;
  if (data.reports[parameters.get("mechanism")]) choice.mechanism = parameters.get("mechanism");
  if (data.epsilons.includes(parameters.get("epsilon"))) choice.epsilon = parameters.get("epsilon");
  return choice;
}
