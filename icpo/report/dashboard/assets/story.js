"use strict";

/** Text with its mathematics rendered; the text goes in as a text node, and KaTeX trusts nothing. */
icpo.maths = function maths(text) {
  const element = icpo.h("div", { class: "prose" }, text ?? "");
  const delimiters = [
    ["$$", "$$", true],
    ["\\[", "\\]", true],
    ["\\(", "\\)", false],
    ["$", "$", false],
  ].map(([left, right, display]) => ({ left, right, display }));
  renderMathInElement(element, {
    delimiters,
    throwOnError: false,
    trust: false,
    maxExpand: 200,
    maxSize: 20,
    strict: "ignore",
    errorCallback: () => {},
  });
  return element;
};

/** How the stages of a question look: each function takes stored data and gives a list of elements. */
icpo.story = (() => {
  const { h, maths } = icpo;
  let promptIsOpen = false; // stays as the reader left it from stage to stage

  function answerView(answer) {
    if (answer === null || answer === undefined || answer === "")
      return h("span", { class: "answer faint" }, "no answer");
    return h("span", { class: "answer" }, /[\\^_{]/.test(answer) ? maths(`$${answer}$`) : answer);
  }

  function promptView(parts) {
    if (!parts.length)
      return h(
        "p",
        { class: "faint" },
        "The prompt of this cell cannot be shown: its settings are not stored, or another version wrote them.",
      );
    const classes = {
      instructions: "instructions",
      question: "question",
      "bad ideas": "bad",
      "good ideas": "good",
      ideas: "ideas",
    };
    return h(
      "details",
      {
        class: "prompt",
        open: promptIsOpen,
        ontoggle: (event) => {
          promptIsOpen = event.target.open;
        },
      },
      h("summary", {}, `The prompt: ${parts.map(([part]) => part).join(", ")}`),
      ...parts.map(([part, text]) =>
        h("div", { class: `part ${classes[part]}` }, h("b", {}, part), maths(text.trim())),
      ),
    );
  }

  function bars(counts, total) {
    return h(
      "div",
      { class: "bars" },
      ...counts.flatMap(([answer, n]) => [
        h("span", { title: answer }, answer),
        h("i", { style: `width:${(100 * n) / total}%` }),
        h("b", {}, String(n)),
      ]),
    );
  }

  /** The candidates by answer class, the largest first, abstentions last. */
  function groups(candidates) {
    const found = new Map();
    for (const candidate of candidates) {
      const label = candidate.label ?? "";
      found.set(label, [...(found.get(label) ?? []), candidate]);
    }
    return [...found].sort(([x, a], [y, b]) => (x === "") - (y === "") || b.length - a.length);
  }

  function groupView([label, members], total, tags) {
    const texts = members.map((candidate, i) =>
      h(
        "details",
        {},
        h(
          "summary",
          {},
          `completion ${i + 1} of ${members.length}, ${candidate.end}`,
        ),
        candidate.text === null ? h("p", { class: "faint" }, "not stored") : maths(candidate.text),
      ),
    );
    const share = `${members.length} of ${total}${label === "" ? ", abstained" : " votes"}`;
    const header = h("header", {}, answerView(label), h("span", { class: "tag" }, share), ...tags);
    return h(
      "div",
      { class: "group" },
      header,
      h("i", { class: "bar", style: `width:${(100 * members.length) / total}%` }),
      ...texts,
    );
  }

  const rightTag = (correct) =>
    correct === true
      ? h("span", { class: "tag good" }, "correct")
      : correct === false
        ? h("span", { class: "tag bad" }, "wrong")
        : null;
  const rewardTag = (reward) =>
    reward === null || reward === undefined
      ? null
      : h("span", { class: `tag ${reward === 1 ? "good" : "bad"}` }, `reward ${reward}`);

  function roundView(round) {
    const { candidates, attempts, kept } = round;
    const notes = [];
    if (round.num_tied > 1)
      notes.push(`${round.num_tied} answers tied; a seeded draw chose ${round.winner}.`);
    if (round.num_dropped)
      notes.push(`${round.num_dropped} of the oldest ideas did not fit the context and were left out.`);
    return [
      promptView(round.prompt),
      h("h3", {}, `${candidates.length} candidates by answer`),
      ...notes.map((note) => h("p", { class: "faint" }, note)),
      ...groups(candidates).map((group) =>
        groupView(
          group,
          candidates.length,
          group[0] === "" ? [] : [rewardTag(group[1][0].reward), rightTag(group[1][0].correct)],
        ),
      ),
      h("h3", {}, "Attempts: summaries and what they would lead to"),
      h("p", { id: "why" }, round.why),
      ...[...attempts.keys()]
        .sort((a, b) => kept.includes(b) - kept.includes(a) || a - b)
        .map((i) => attemptView(round, i)),
    ];
  }

  function attemptView(round, i) {
    const attempt = round.attempts[i];
    const ahead = round.lookaheads.find((look) => look.attempt === i);
    const isKept = round.kept.includes(i);
    const answers = ahead
      ? [...ahead.counts, ...(ahead.abstained ? [["no answer", ahead.abstained]] : [])]
      : [];
    const total = answers.reduce((sum, [, n]) => sum + n, 0);
    return h(
      "div",
      { class: `attempt${isKept ? " kept" : ""}` },
      h(
        "header",
        {},
        h("b", {}, `Attempt ${i + 1}`),
        answerView(round.candidates[attempt.candidate].label),
        rewardTag(attempt.reward),
        isKept ? h("span", { class: "tag good" }, "kept") : null,
        ahead ? h("span", { class: "tag" }, `entropy ${ahead.bits} bits`) : null,
      ),
      maths(attempt.summary),
      ahead
        ? h(
            "div",
            {},
            h("span", { class: "faint" }, `${total} look-ahead answers with this attempt in the history:`),
            bars(answers, total),
          )
        : null,
    );
  }

  function finalsView({ title, prompt, candidates }) {
    return [
      h("p", {}, title),
      promptView(prompt),
      ...groups(candidates).map((group) =>
        groupView(
          group,
          candidates.length,
          [...new Set(group[1].map((c) => c.outcome).filter(Boolean))].map((outcome) =>
            h("span", { class: `tag ${outcome === "correct" ? "good" : "bad"}` }, outcome),
          ),
        ),
      ),
    ];
  }

  function stepsView(list) {
    return list.flatMap((step, i) => [
      h(
        "h3",
        {},
        `${i + 1}. ${step.name}`,
        step.parent === null ? "" : `, grown from ${step.parent + 1}`,
        step.value === null ? "" : `, value ${step.value}`,
      ),
      ...groups(step.candidates).map((group) => groupView(group, step.candidates.length, [])),
    ]);
  }

  return { round: roundView, finals: finalsView, search: stepsView };
})();
