/**
 * docs/gallery/README.md: each page in one sentence, with its four pictures.
 * @param {readonly import('./gallery-pages.mjs').GalleryPage[]} pages
 */
export function galleryText(pages) {
  const picture = (/** @type {string} */ name, /** @type {string} */ look, /** @type {number} */ width) =>
    `<a href="${name}-${look}.webp"><img src="${name}-${look}.webp" alt="${name}, ${look.replace('-', ', ')} px" width="${width}"></a>`
  const section = (/** @type {import('./gallery-pages.mjs').GalleryPage} */ { name, text }) =>
    [
      `## ${name}`,
      '',
      text,
      '',
      [
        picture(name, 'light-1280', 320),
        picture(name, 'dark-1280', 320),
        picture(name, 'light-390', 100),
        picture(name, 'dark-390', 100),
      ].join('\n'),
    ].join('\n')
  return `${HEAD}\n\n${pages.map(section).join('\n\n')}\n`
}

const HEAD = `# Gallery

Each page, light and dark, in windows of 1,280 and 390 px. \`make gallery\` writes this folder: it fills a stack of its own with recorded campaigns
(\`docs/examples/recorded-hystart.zip\`, \`docs/examples/recorded-buffers.zip\`, \`docs/reproduction/archives/002-leo.zip\`), lets a small one run, makes an hour of a path, imports a day of weather, and takes the pictures.
It fails when a page is wider than its window or says an error, or when the pictures take more than 7 MB.`
