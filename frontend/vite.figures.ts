import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** One script without a browser, for the command line: dist/figures.js beside the dashboard. */
export default defineConfig({
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  publicDir: false,
  build: {
    emptyOutDir: false,
    target: 'es2022',
    lib: {
      entry: fileURLToPath(new URL('./src/app/figures.ts', import.meta.url)),
      formats: ['iife'],
      name: 'downlinkFigures',
      fileName: () => 'figures.js',
    },
  },
})
