"use strict";
// Starts the page: the controls that everything shares, then each part.

(() => {
  store.set(choiceInAddress());
  const pickMechanism = radios(byId("choose-mechanism"), "mechanism",
    data.mechanisms.map(({ name, label, title }) => ({ value: name, label, hint: title })),
    (mechanism) => store.set({ mechanism }));
  const pickEpsilon = radios(byId("choose-epsilon"), "epsilon",
    data.epsilons.map((epsilon) => ({ value: epsilon, label: epsilon })),
    (epsilon) => store.set({ epsilon }));

  store.listen((state) => {
    pickMechanism(state.mechanism);
    pickEpsilon(state.epsilon);
    const odds = Math.exp(Number(state.epsilon));
    byId("odds").textContent = times(odds);
    byId("odds-note").textContent = `That is e to the power of ε = ${state.epsilon}. `
      + (odds > 1000 ? "This is weak protection: a report can reveal much." : odds > 20
        ? "This is moderate protection." : "This is strong protection: one report reveals little.");
  });
  journeys.start();
  views.start();
  charts.start();
  budget.start();
})();
