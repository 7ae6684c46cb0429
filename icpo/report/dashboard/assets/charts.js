"use strict";

/** Draws a Vega-Lite specification in the page's colours, again when they change; `maxWidth` is in pixels. */
icpo.chart = function chart(spec, { id, maxWidth } = {}) {
  const box = icpo.h("div", { class: "chart", id, style: maxWidth ? `max-width:${maxWidth}px` : null });
  const draw = () => {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const axis = {
      labelColor: colour("text"),
      titleColor: colour("text"),
      gridColor: colour("line"),
      domainColor: colour("line"),
      tickColor: colour("line"),
    };
    const config = {
      background: "transparent",
      font: "system-ui, sans-serif",
      axis,
      legend: {
        labelColor: colour("text"),
        titleColor: colour("text"),
        orient: "bottom",
        columns: 1,
        labelLimit: 600,
      },
      title: { color: colour("text"), anchor: "start" },
      header: { labelColor: colour("text"), titleColor: colour("text") },
      view: { stroke: "transparent" },
      range: {
        category: ["#8a96a3", "#3b82d6", "#dd8452", "#43a563", "#9a7bd0", "#b08a72", "#d977b8", "#5bb5bd"],
      },
    };
    const full = {
      $schema: "https://vega.github.io/schema/vega-lite/v6.json",
      width: "container",
      ...spec,
      config,
    };
    vegaEmbed(box, full, { actions: false, renderer: "svg" }).catch((error) => {
      box.textContent = `This chart could not be drawn: ${error.message}`;
      console.error(error);
    });
  };
  const redraw = () => {
    if (!box.isConnected) removeEventListener("themechange", redraw);
    else if (box.hasChildNodes()) draw();
  };
  addEventListener("themechange", redraw);
  // Drawn when scrolled to: the box has a width then, and a long page opens at once.
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    seen.disconnect();
    draw();
  });
  seen.observe(box);
  return box;
};

/** Lines with points and, where there are some, intervals: rows are {x, value, low, high, line}, `dash` a further field. */
icpo.lines = function lines(rows, xTitle, yTitle, { dash } = {}) {
  const shared = {
    x: { field: "x", type: "ordinal", title: xTitle, axis: { labelAngle: 0 } },
    color: { field: "line", type: "nominal", title: null },
    ...(dash ? { strokeDash: { field: dash, type: "nominal" } } : {}),
  };
  const y = { field: "value", type: "quantitative", title: yTitle };
  const tooltip = [
    { field: "line", title: "cell" },
    ...(dash ? [{ field: dash }] : []),
    { field: "x", title: xTitle },
    { field: "value", title: yTitle, format: ".2f" },
  ];
  const intervals = {
    transform: [{ filter: "isValid(datum.low)" }],
    mark: { type: "rule", strokeWidth: 1.5 },
    encoding: { ...shared, y: { field: "low", type: "quantitative", title: yTitle }, y2: { field: "high" } },
  };
  return {
    data: { values: rows },
    height: 240,
    layer: [
      ...(rows.some((row) => row.low !== undefined) ? [intervals] : []),
      { mark: { type: "line", point: { size: 45 } }, encoding: { ...shared, y, tooltip } },
    ],
  };
};
