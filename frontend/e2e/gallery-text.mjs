/**
 * docs/gallery/README.md: each page in a few words, with its four pictures.
 * @param {readonly import('./gallery-pages.mjs').GalleryPage[]} pages
 */
export function galleryText(pages) {
  const picture = (/** @type {string} */ name, /** @type {string} */ look, /** @type {number} */ width) =>
    `<a href="${name}-${look}.webp"><img src="${name}-${look}.webp" alt="${name}-${look}" width="${width}"></a>`
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

Each page, light and dark, 1,280 and 390 px wide. \`make gallery\` writes it from recorded campaigns.`
