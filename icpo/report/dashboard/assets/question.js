"use strict";

icpo.page("question", async (main) => {
  const { h, params, setParams, link, count } = icpo;
  const name = params().get("cell") ?? "";
  const cell = icpo.index().cells.find((c) => `${c.run}/${c.name}` === name);
  if (!cell?.has_questions)
    return void main.append(h("h1", {}, `There is no cell ${name} with questions here.`));
  const { questions } = await icpo.need(`cells/${cell.id}`);
  const place = Math.max(
    0,
    questions.findIndex((q) => q.id === params().get("question")),
  );
  const row = questions[place];
  main.append(h("p", {}, h("a", { href: link("cell", { cell: name }) }, cell.name)), h("h1", {}, row.id));
  if (!row.file)
    return void main.append(
      h("p", {}, "This question has no page: the dashboard was written with a smaller --max-questions."),
    );
  const question = await icpo.need(`questions/${cell.id}/${row.file}`);
  const seeds = Object.keys(question.seeds);
  const seed = seeds.includes(params().get("seed")) ? params().get("seed") : seeds[0];
  const told = question.seeds[seed];
  const story = icpo.story(cell.settings?.selector ?? "another one");
  const stages = [
    ...told.rounds.map((round, i) => ({ name: `Round ${i + 1}`, draw: () => story.round(round) })),
    ...(told.steps.length ? [{ name: "Search", draw: () => story.search(told.steps) }] : []),
    ...told.finals.map((finals) => ({
      name: told.finals.length > 1 ? `Finals after ${finals.after}` : "Finals",
      draw: () => story.finals(finals),
    })),
  ];
  const asked = stages.findIndex(
    (stage) => stage.name.toLowerCase().replaceAll(" ", "-") === params().get("at"),
  );
  let stage = Math.max(0, asked);

  const neighbour = (offset) =>
    questions[place + offset]?.file &&
    link("question", { cell: name, question: questions[place + offset].id, seed });
  const go = (href) => {
    if (href) location.hash = href.slice(href.indexOf("#"));
  };
  main.append(h("div", { class: "part question" }, h("b", {}, "question"), icpo.maths(question.text)));
  main.append(
    h(
      "p",
      {},
      "Gold answer: ",
      h("span", { class: "answer", id: "gold" }, question.gold ?? "not known"),
      ` · ${count(told.usage.generated_tokens)} generated tokens in ${count(told.usage.num_requests)} requests`,
    ),
  );
  main.append(
    h(
      "div",
      { class: "controls" },
      seeds.length > 1
        ? icpo.select(
            "seed",
            seeds.map((s) => [s, s]),
            seed,
            (value) => {
              location.hash = new URLSearchParams({
                cell: name,
                question: question.id,
                seed: value,
                at: params().get("at") ?? "",
              });
            },
          )
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
      h(
        "span",
        { class: "faint keys" },
        "Keys: ",
        h("kbd", {}, "←"),
        " ",
        h("kbd", {}, "→"),
        " step, ",
        h("kbd", {}, "p"),
        " ",
        h("kbd", {}, "n"),
        " question",
      ),
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
      at: stages[stage].name.toLowerCase().replaceAll(" ", "-"),
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
