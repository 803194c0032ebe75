"""Packages of the trade that a runner may fetch and start."""

from steersman.governance.guard.options import listed

KNOWN_BINS = frozenset(
    listed(
        """tsc eslint prettier jest vitest mocha webpack vite rollup esbuild playwright cypress
        ts-node tsx next nuxt astro svelte-kit remix turbo nx lerna rimraf mkdirp
        cross-env concurrently serve http-server storybook stylelint commitlint
        lint-staged husky prisma drizzle-kit sequelize knex typeorm babel swc postcss
        tailwindcss autoprefixer nodemon pm2 wrangler vercel netlify firebase
        create-react-app create-next-app create-vite depcheck npm-check-updates
        ncu madge dependency-cruiser size-limit bundlesize c8 nyc ava tap uvu karma
        protractor ng vue-cli-service expo react-native gatsby eleventy docusaurus
        vuepress vitepress typedoc jsdoc documentation api-extractor swagger-cli
        openapi-generator-cli openapi-typescript graphql-codegen apollo relay-compiler
        json-server msw changeset semantic-release release-it np standard xo biome
        oxlint oxc knip ts-prune tsup unbuild microbundle parcel snowpack wmr
        markdownlint markdownlint-cli markdownlint-cli2 cspell alex textlint remark
        html-validate pa11y lighthouse sass less stylus node-gyp prebuildify electron
        electron-builder cowsay envinfo browserslist update-browserslist-db ts-jest tsd
        dtslint publint attw sort-package-json syncpack license-checker audit-ci snyk
        better-npm-audit tslint"""
    )
)


SCOPES = frozenset(
    listed(
        """@redocly @arethetypeswrong @biomejs @stoplight @commitlint @lingui @graphql-codegen
        @microsoft @playwright @storybook @tailwindcss @babel @swc @vue @angular @sveltejs
        @astrojs @remix-run @11ty @mermaid-js @openapitools @asyncapi @apidevtools @cyclonedx
        @typescript-eslint @eslint @prettier @stylelint @formatjs @lhci @axe-core @manypkg
        @antfu @vitest @parcel @rspack"""
    )
)
