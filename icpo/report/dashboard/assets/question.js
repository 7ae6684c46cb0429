"use strict";

icpo.page(async (main) => {
  const { h, params, setParams, link, cell } = icpo;
  const found = cell();
  const name = params().get("cell") ?? "";
  if (!found) return void main.append(h("h1", {}, `There is no cell ${name} with questions here.`));
  const questions = await icpo.need(`questions/${found.name}`);
  const asked = params().get("question");
  const place = asked ? questions.findIndex((q) => q.id === asked) : 0;
  const question = questions[place];
  main.append(h("p", {}, h("a", { href: link("cell", { cell: name }) }, name)), h("h1", {}, question?.id ?? asked));
  if (!question)
    return void main.append(
      h("p", {}, "This question has no page: the dashboard was written with a smaller --max-questions."),
    );
  const seeds = Object.keys(question.seeds);
  const seed = seeds.includes(params().get("seed")) ? params().get("seed") : seeds[0];
  const told = question.seeds[seed];
  const { story } = icpo;
  const stages = [
    ...told.rounds.map((round, i) => ({ name: `Round ${i + 1}`, draw: () => story.round(round) })),
    ...(told.steps.length ? [{ name: "Search", draw: () => story.search(told.steps) }] : []),
    ...told.finals.map((finals) => ({
      name: told.finals.length > 1 ? `Final samples after ${finals.after}` : "Final samples",
      draw: () => story.finals(finals),
    })),
  ];
  const slug = (text) => text.toLowerCase().replaceAll(" ", "-");
  let stage = Math.max(
    0,
    stages.findIndex((one) => slug(one.name) === params().get("at")),
  );

  const neighbour = (offset) =>
    questions[place + offset] && link("question", { cell: name, question: questions[place + offset].id, seed });
  const go = (href) => {
    if (href) location.hash = href.slice(href.indexOf("#"));
  };
  main.append(h("div", { class: "part question" }, h("b", {}, "question"), icpo.maths(question.text)));
  const gold = h("span", { class: "answer", id: "gold" }, question.gold ?? "not known");
  main.append(h("p", {}, "Gold answer: ", gold, ` · ${told.usage}`));
  main.append(
    h(
      "div",
      { class: "controls" },
      seeds.length > 1
        ? icpo.select("seed", seeds.map((s) => [s, s]), seed, (value) => icpo.go({ seed: value }))
        : null,
      h(
        "button",
        { type: "button", onclick: () => go(neighbour(-1)), disabled: !neighbour(-1) },
        "previous question",
      ),
      h(
        "button",
        { type: "button", onclick: () => go(neighbour(1)), disabled: !neighbour(1) },
        "next question",
      ),
      h("span", { class: "faint keys" }, "Keys: ← → step, p n question"),
    ),
  );
  const steps = h(
    "div",
    { class: "steps", role: "group", "aria-label": "stages" },
    ...stages.map((s, i) => h("button", { type: "button", onclick: () => show(i) }, s.name)),
  );
  const view = h("section", { id: "stage", "aria-live": "polite" });
  main.append(steps, view);

  function show(i) {
    stage = Math.min(Math.max(i, 0), stages.length - 1);
    [...steps.children].forEach((button, j) =>
      button.setAttribute("aria-current", j === stage ? "step" : "false"),
    );
    view.replaceChildren(h("h2", {}, stages[stage].name), ...stages[stage].draw());
    setParams({
      cell: name,
      question: question.id,
      seed,
      at: slug(stages[stage].name),
    });
  }

  document.onkeydown = (event) => {
    if (
      event.altKey ||
      event.ctrlKey ||
      event.metaKey ||
      /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)
    )
      return;
    const actions = {
      ArrowRight: () => show(stage + 1),
      ArrowLeft: () => show(stage - 1),
      l: () => show(stage + 1),
      h: () => show(stage - 1),
      n: () => go(neighbour(1)),
      p: () => go(neighbour(-1)),
    };
    if (actions[event.key]) {
      actions[event.key]();
      event.preventDefault();
    }
  };
  show(stage);
});
