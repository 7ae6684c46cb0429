"use strict";

/** Draws the blocks of icpo/report/dashboard/blocks.py: the pages hold no numbers of their own. */
icpo.blocks = (() => {
  const { h, params, go } = icpo;

  async function draw(blocks) {
    return (await Promise.all(blocks.map((block) => kinds[block.type](block)))).flat();
  }

  const kinds = {
    heading: ({ text, level }) => h(`h${level}`, {}, text),
    note: ({ text }) => h("p", { class: "faint" }, text),
    warning: ({ title, lines }) =>
      h("div", { class: "problems" }, h("b", {}, title), h("ul", {}, ...lines.map((line) => h("li", {}, line)))),
    cards: ({ cards }) =>
      h(
        "div",
        { class: "cards" },
        ...cards.map(([title, text]) => h("div", { class: "card" }, h("span", {}, title), h("b", {}, text))),
      ),
    chart: (block) => chart(block),
    table: (block) => icpo.sortable(block),
    load: async ({ name }) => draw(await icpo.need(name)),
    choice: async ({ name, label, options }) => {
      const chosen = options.find(([value]) => value === params().get(name)) ?? options[0];
      return [h("div", { class: "controls" }, chooser(name, label, options, chosen)), ...(await draw(chosen[2]))];
    },
  };

  /** Buttons for a few short options, a select for others. */
  function chooser(name, label, options, chosen) {
    if (options.length > 5) return icpo.select(label, options, chosen[0], (value) => go({ [name]: value }));
    return options.map(([value, text]) =>
      h(
        "button",
        { type: "button", "aria-pressed": String(value === chosen[0]), onclick: () => go({ [name]: value }) },
        text,
      ),
    );
  }

  /** A Vega-Lite specification in the page's colours, drawn again when they change. */
  function chart({ spec, id, max_width }) {
    const box = h("div", { class: "chart", id, style: max_width ? `max-width:${max_width}px` : null });
    const drawChart = () => {
      const style = getComputedStyle(document.documentElement);
      const [text, line] = ["text", "line"].map((name) => style.getPropertyValue(`--${name}`).trim());
      const config = {
        background: "transparent",
        font: "system-ui, sans-serif",
        axis: { labelColor: text, titleColor: text, gridColor: line, domainColor: line, tickColor: line },
        legend: { labelColor: text, titleColor: text, orient: "bottom", columns: 3, labelLimit: 340, symbolLimit: 60 },
        view: { stroke: "transparent" },
      };
      const full = { $schema: "https://vega.github.io/schema/vega-lite/v6.json", width: "container", ...spec, config };
      vegaEmbed(box, full, { actions: false, renderer: "svg" }).catch((error) => {
        box.textContent = `This chart could not be drawn: ${error.message}`;
        console.error(error);
      });
    };
    const redraw = () => {
      if (!box.isConnected) removeEventListener("themechange", redraw);
      else if (box.hasChildNodes()) drawChart();
    };
    addEventListener("themechange", redraw);
    // Drawn when scrolled to: the box has a width then, and a long page opens at once.
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      seen.disconnect();
      drawChart();
    });
    seen.observe(box);
    return box;
  }

  return draw;
})();

icpo.page(async (main) => {
  const name = document.body.dataset.page;
  const cell = name === "cell" ? icpo.cell() : null;
  if (name === "cell" && !cell)
    return void main.append(icpo.h("h1", {}, `There is no cell ${icpo.params().get("cell")} with questions here.`));
  main.append(...(await icpo.blocks(await icpo.need(cell ? `cells/${cell.name}` : name))));
});
