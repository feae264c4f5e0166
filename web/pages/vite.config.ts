import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const SHARED = fileURLToPath(new URL("../../src/nomadp/", import.meta.url));
const HERE = fileURLToPath(new URL("./", import.meta.url));
const CLIENT = fileURLToPath(new URL("../client/src/", import.meta.url));
const LOOK = "virtual:look.css";

/** The look of every page, as custom properties of CSS: theme.py does the same. */
function look(): Plugin {
  const { certainty, ...themes } = JSON.parse(readFileSync(`${SHARED}theme.json`, "utf-8"));
  const properties = (theme: string) =>
    Object.entries(themes[theme])
      .map(([name, value]) => `--${name}:${String(value)};`)
      .join("");
  const faint = Object.entries(certainty as Record<string, { opacity: number }>)
    .map(([word, { opacity }]) => `--${word}-opacity:${opacity};`)
    .join("");
  const light = `:root{${properties("light")}${faint}}`;
  const dark = `@media (prefers-color-scheme:dark){:root{${properties("dark")}}}`;
  return {
    name: "nomadp-theme",
    resolveId: (id) => (id === LOOK ? `\0${LOOK}` : undefined),
    load: (id) => (id === `\0${LOOK}` ? `${light}\n${dark}` : undefined),
  };
}

export default defineConfig({
  plugins: [look()],
  resolve: {
    alias: {
      "nomadp-theme": `${SHARED}theme.json`,
      "nomadp-page": `${SHARED}page.css`,
      // Its sources: what a page does not use is left out.
      "nomadp-client/imports": `${CLIENT}imports/index.ts`,
      "nomadp-client/seeded": `${CLIENT}seeded.ts`,
      "nomadp-client": `${CLIENT}index.ts`,
    },
  },
  build: {
    outDir: "../../src/nomadp/pages/static",
    emptyOutDir: true,
    target: "es2022",
    rolldownOptions: { input: [`${HERE}index.html`, `${HERE}contribute.html`] },
    // The content security policy takes no data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
  },
  worker: { format: "es" },
});
