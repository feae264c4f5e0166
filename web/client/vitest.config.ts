import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/**/*.test.ts"],
    exclude: ["tests/slow/**"],
    testTimeout: 60_000, // other tests share the cores
  },
});
