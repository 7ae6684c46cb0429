"use strict";

/** What every page shares. Texts of questions and models reach a page as text nodes alone, never as markup. */
const icpo = (() => {
  const received = new Map();
  const waiting = new Map();

  /** Called by data files. */
  function receive(name, value) {
    received.set(name, value);
    waiting.get(name)?.(value);
  }

  /** A promise of a data file's value; a page opened from a disk may load scripts, nothing else. */
  function need(name) {
    if (received.has(name)) return Promise.resolve(received.get(name));
    return new Promise((resolve, reject) => {
      waiting.set(name, resolve);
      const script = document.createElement("script");
      script.src = `data/${name}.js`;
      script.onerror = () => reject(new Error(`data/${name}.js is missing`));
      document.head.append(script);
    });
  }

  /** An element; attributes beginning with "on" are listeners, null children are left out. */
  function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  }

  const params = () => new URLSearchParams(location.hash.slice(1));
  const link = (page, values) => `${page}.html#${new URLSearchParams(values)}`;
  const setParams = (values) => history.replaceState(null, "", `#${new URLSearchParams(values)}`);
  const go = (changes) => {
    location.hash = new URLSearchParams({ ...Object.fromEntries(params()), ...changes });
  };

  /** A labelled select; options are [value, text] pairs. */
  function select(label, options, chosen, onchange) {
    const box = h(
      "select",
      { onchange: () => onchange(box.value) },
      ...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
    );
    return h("label", {}, label, box);
  }

  /** The cell named by the address, or null. */
  const cell = () => received.get("cells").find((one) => one.path === params().get("cell")) ?? null;

  const themes = ["light", "dark"];
  let theme = localStorage.getItem("icpo-theme");
  if (!themes.includes(theme)) theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme;

  function switchTheme() {
    theme = themes[1 - themes.indexOf(theme)];
    localStorage.setItem("icpo-theme", theme);
    document.documentElement.dataset.theme = theme;
    dispatchEvent(new Event("themechange"));
  }

  /** Writes the navigation and calls `draw` with the page's main element, again whenever the address changes. */
  function page(draw) {
    const pages = { index: "Results", compare: "Compare", curves: "Curves", costs: "Costs" };
    const links = Object.entries(pages).map(([file, text]) =>
      h("a", { href: `${file}.html`, "aria-current": file === document.body.dataset.page ? "page" : null }, text),
    );
    let main = h("main");
    const theme = h("button", { id: "theme", onclick: switchTheme }, "light / dark");
    document.body.append(h("nav", {}, h("strong", {}, "ICPO"), ...links, theme), main);
    const redraw = async () => {
      const fresh = h("main", { id: "main" }); // a slower, older drawing goes on in an element that nobody sees
      main.replaceWith(fresh);
      main = fresh;
      try {
        await draw(fresh);
        fresh.dataset.ready = "true";
      } catch (error) {
        fresh.append(h("p", { class: "problems" }, `This page could not be drawn: ${error.message}`));
        throw error;
      }
    };
    addEventListener("hashchange", redraw);
    redraw();
  }

  return { receive, need, h, params, link, setParams, go, select, cell, page };
})();
