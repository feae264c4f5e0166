import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const SHARED = fileURLToPath(new URL("../../src/nomadp/", import.meta.url));
const PAGES = fileURLToPath(new URL("./", import.meta.url));
const CLIENT = fileURLToPath(new URL("../client/src/", import.meta.url));
const THEME = "virtual:theme.css";

/** The design tokens as CSS custom properties; theme.py does the same. */
function themeStyles(): Plugin {
  const { certainty, ...themes } = JSON.parse(readFileSync(`${SHARED}theme.json`, "utf-8"));
  const properties = (theme: string) =>
    Object.entries(themes[theme])
      .map(([name, value]) => `--${name}:${String(value)};`)
      .join("");
  const opacities = Object.entries(certainty as Record<string, { opacity: number }>)
    .map(([word, { opacity }]) => `--${word}-opacity:${opacity};`)
    .join("");
  const light = `:root{${properties("light")}${opacities}}`;
  const dark = `@media (prefers-color-scheme:dark){:root{${properties("dark")}}}`;
  return {
    name: "nomadp-theme",
    resolveId: (id) => (id === THEME ? `\0${THEME}` : undefined),
    load: (id) => (id === `\0${THEME}` ? `${light}\n${dark}` : undefined),
  };
}

export default defineConfig({
  plugins: [themeStyles()],
  resolve: {
    alias: {
      "nomadp-theme": `${SHARED}theme.json`,
      "nomadp-page": `${SHARED}page.css`,
      // The sources, so that unused code is left out of a page.
      "nomadp-client/imports": `${CLIENT}imports/index.ts`,
      "nomadp-client/seeded": `${CLIENT}seeded.ts`,
      "nomadp-client": `${CLIENT}index.ts`,
    },
  },
  build: {
    outDir: "../../src/nomadp/pages/static",
    emptyOutDir: true,
    target: "es2022",
    rolldownOptions: { input: [`${PAGES}index.html`, `${PAGES}contribute.html`] },
    // The content security policy takes no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es" },
});
