"""Tools that reach another service: data, experiments, registries, messages, hosting. The verbs
that only look are listed; everything else is asked about. The entries are those of
`reads_devices.py`."""

REMOTE = """
dvc > remote.delete > -r --remote -c --cd -j --jobs --rev -R -n --name >
  status|diff|dag|list|ls|doctor|version|repro|add|init|checkout|fetch|pull|metrics|params|plots|stage;
  run|unprotect|commit|move|freeze|unfreeze|import|import-url|get|get-url|data|root|update|artifacts;
  check-ignore|help; cache dir; exp show|diff|list|ls|run|apply|save|branch|rename; remote list;
  gc & --dry; gc ! -c|--cloud; config & -l|--list; queue status|logs
mlflow > remote.delete > --backend-store-uri -t --tracking-uri --host -h -p --port -e
  --experiment-id -m --model-uri --env-manager > ui|server & --host=localhost|--host=127.;
  ui|server ! --host|-h; experiments search|csv|get; runs list|describe;
  run|doctor|--version|artifacts-list; models predict; artifacts list|download; models
  build-docker|generate-dockerfile|prepare-env
wandb > remote.delete > -e --entity -p --project --job_type -t >
  status|verify|--version|offline|online|disabled|enabled|pull|restore|docs|help|off|on; artifact
  ls|get; artifact cache
kaggle > remote.change > -c -d -k -p -f -s > *
  list|files|status|submissions|leaderboard|download|output; config view; --version|-v; * pull
huggingface-cli hf > remote.change > --repo-type --revision --local-dir --include --exclude
  --cache-dir > download|env|whoami|scan-cache|version|tag-list|papers; auth whoami|list; cache
  scan|ls|verify; repo list|info; models|datasets|spaces list|ls|info; jobs
  ps|logs|inspect|hardware
clearml clearml-data clearml-task aim neptune comet comet_ml polyaxon guild sacred > remote.change
  > > status|list|ls|version|info|show|up|runs|diff|compare|check|search|log|help|--version
modal replicate runpodctl vastai lightning prime beam baseten cog > cloud.change > > *
  list|ls|logs|show|get; list|ls|status|logs|version|--version|config|build|predict|search|hello;
  serve|run|init|validate|profile; whoami; show instances|machines; search offers
ollama > remote.change > > list|ls|ps|show|run|pull|help|--version|stop|create|cp
openai anthropic llm aichat mods gemini sgpt > remote.change > >
  models|--version|logs|plugins|templates; tools|schemas|keys-path|--help; api
  models.list|models.retrieve
ray > jobs.change > --address > status|list|summary|logs|memory|timeline|get|--version; job
  list|status|logs
prefect > remote.change > > version|--version|dashboard; config view|validate; profile ls|inspect;
  * ls|inspect|logs|preview; server start|status
airflow > remote.change > > version|info|cheat-sheet|standalone|--version; config
  list|get-value|lint; dags
  list|list-runs|show|state|report|details|list-jobs|next-execution|list-import-errors|test|reserialize;
  tasks list|render|state|test|states-for-dag-run|failed-deps; db check|check-migrations;
  providers list|get; pools list|get; variables list; jobs check; plugins; users list; roles list
dagster dagit meltano kedro zenml bentoml feast great_expectations gx sqlmesh soda metaflow flyte
  pyflyte flytectl luigi mage-ai dlt evidently whylogs ploomber > remote.change > -f -m -w --env
  --gateway >
  dev|list|ls|info|version|--version|check|plan|lint|test|format|status|describe|validate|render|diff;
  registry|catalog|viz|ipython|jupyter|package|docs|build|show|evaluate|dag|table_diff|scan|compile;
  job|asset|schedule|sensor|run|code-location|definitions list|validate|print; *
  list|ls|describe|show|info|status; schema; invoke & --dry-run; select & --list
dbt dbtf > db.change > -s --select -m --models --target -t --profiles-dir --project-dir --exclude
  --vars > compile|parse|ls|list|docs|debug|deps|clean|show|source|test|--version|init;
  run|build|seed|snapshot|run-operation ! --target|-t|--full-refresh; run|build|seed|snapshot &
  --target=dev|-t=dev|--target=ci|-t=ci|--target=test|-t=test
spark-submit spark-shell pyspark flink hdfs hadoop oozie sqoop > remote.change > --master
  --deploy-mode --class --conf --name > * & --master=local; dfs|fs &
  -ls|-cat|-du|-df|-stat|-test|-tail; --version|version|classpath|list|info
nextflow > jobs.change > -c -profile -r >
  config|info|list|log|lint|inspect|view|-version|help|plugin-list; run &
  -stub-run|-stub|-preview; run & -profile=test|-profile=docker
snakemake > jobs.change > -s --snakefile -j --cores -c --configfile --profile -d --config > * &
  -n|--dry-run|--dryrun|--lint|--dag|--rulegraph|--list|-l|--summary|--filegraph; * !
  --delete-all-output|--cluster|--executor|--profile|--drmaa
lakectl lakefs pachctl quilt3 iceberg > remote.change > > * list|ls|show|log|stat|diff|inspect;
  log|diff|list|show|version|local-status
snow snowcli datahub dremio-cli starburst > db.change > -c --connection > connection list|test;
  object list|describe; * list|describe|status|logs; --version|--info|version|check
oras crane regctl skopeo cosign notation ko buildah umoci kaniko imgpkg dredge wharf ctop >
  docker.publish > --platform -p --policy -f --file -t --tag >
  ls|list|manifest|digest|config|catalog|validate|inspect|list-tags|version|verify*|tree|triangulate;
  discover|pull|export|blob-get|images|containers|mount-list|info|resolve|unpack|--version|bud|build-using;
  tag ls; manifest get|head|fetch; repo ls|tags; image inspect|digest|manifest|ratelimit; build &
  --local; generate-policy; public-key; build ! --push
anaconda anaconda-client > pkg.publish > -t --token -s --site >
  search|show|whoami|--version|config-list|auth-list
jsr > pkg.publish > > info|show|--version|whoami; publish & --dry-run
maturin > pkg.publish > -m --manifest-path -i -o --out --target -F --features >
  build|develop|dev|sdist|list-python|new|init|generate-ci|--version
wasm-pack > pkg.publish > -t --target -d --out-dir > build|test|new|pack|--version
mkdocs mike > pkg.publish > -f --config-file -a --dev-addr -d -F >
  build|serve|new|get-deps|list|--version; deploy|set-default|alias|delete|retitle ! -p|--push
hugo > pkg.publish > -s -d -b -D --destination --source --config --port > deploy & --dryRun; $;
  server|serve|build|new|list|version|env|config|mod|convert|gen|completion|check|import|benchmark
quarto docusaurus gh-pages angular-cli-ghpages rsconnect > pkg.publish > --to -d --port >
  render|preview|check|create|inspect|convert|run|list|version|build|start|serve|clear|swizzle|--version;
  write-translations|write-heading-ids|docs:version
ng > pkg.publish > --configuration -c --project >
  build|b|serve|s|dev|test|t|lint|e2e|e|generate|g|new|n;
  version|v|config|extract-i18n|run|r|cache|doc|d|analytics|help|completion; update $
expo > hosting.change > -p --platform --port >
  start|export|prebuild|config|doctor|lint|whoami|run*|install-check;
  customize|serve|--version|diagnostics|export:web|run:android|run:ios
eas > hosting.change > -p --platform --profile -e > build & --local;
  build:list|build:view|whoami|--version;
  config|diagnostics|project:info|update:list|update:view|channel:list|branch:list|env:list|device:list;
  submit:list; fingerprint:*|metadata:lint|analytics
rover apollo graphql-hive hive-cli buf graphcdn inigo > hosting.change > --schema --name --profile
  --against --config --path -o --template --error-format >
  *:check|*:list|*:fetch|*:download-schema|client:codegen; subgraph|graph|supergraph|contract
  check|fetch|introspect|lint|list|compose|describe; dev|docs|explain; config whoami|list;
  lint|format|breaking|build|generate|ls-files|export|convert|dep|mod|config;
  template|persisted-queries-list|--version|schema:check|introspect|stats|plugin-list|beta; dep
  graph|update
chromatic percy argos codecov coveralls codacy-coverage-reporter codeclimate cc-test-reporter >
  hosting.change > -t -f -F > * & --dry-run;
  analyze|validate|version|--version|engines:list|format-coverage
snyk > hosting.change > --file --org > test|whoami|--version|version|log4shell|sbom|aibom;
  container|iac|code test; config get
sonar-scanner sonar > hosting.change > -D > $ & --version|-v; $
grpcurl grpc_cli evans ghz > remote.change > -d -H -proto -import-path -cacert -cert -key
  -max-time -rpc-header -authority -servername --proto --call -n -c > ~ list|describe; ~
  localhost:*|127.0.0.1:*|[::1]:*|0.0.0.0:*|localhost|host.docker.internal:*|:*
wscat mosquitto_sub mosquitto_pub mqtt mqttx amqp-publish stomp > remote.change > -h -C -t -m -u
  -P -p -q -c --connect -H > $ & -h=localhost|-h=127.|--connect=localhost|-c=localhost; $ &
  -c=ws://localhost|-c=ws://127.|--connect=ws://localhost; * & -h=localhost|-h=127.; $ !
  -h|-c|--connect; sub & -h=localhost
kcat kafkacat > remote.change > -b -t -p -o -c -F -X -f -s -r -G > $ & -L|-Q; * & -L|-Q; $ & -C; *
  & -C; $ & -b=localhost|-b=127.; * & -b=localhost|-b=127.; $ ! -P|-G & -t
kafka-console-consumer kafka-console-consumer.sh kafka-broker-api-versions kafka-log-dirs
  kafka-dump-log kafka-get-offsets kafka-verifiable-consumer > remote.change > > *
rpk > remote.change > -X --brokers --config > *
  list|describe|describe-*|info|status|print|consume|health; version|help|debug
cast forge anvil hardhat truffle brownie ape anchor solana near foundryup sui aptos starkli
  stellar soroban ganache > remote.change > --rpc-url --network -u --url --match-test --mt --mc
  -vvv --fork-url >
  build|test|compile|fmt|lint|coverage|snapshot|inspect|tree|doc|geiger|clean|node|accounts|--version|flatten;
  call|block*|balance|balances|code|storage|tx|receipt|chain-id|gas-price|nonce|sig|4byte*|abi-*|keccak;
  to-*|from-*|age|client|estimate|interface|logs|config|check|size-contracts|help|idl|expand|keys-list;
  config get; cluster-version|slot|epoch|epoch-info|address|account|supply|version|run &
  --network=hardhat; run & --network=localhost; migrate|deploy &
  --network=development|--network=localhost|--network=hardhat; script ! --broadcast
glab > hosting.change > -R --repo -P --per-page -p --page -b --branch --assignee --author --label
  -F --output > ci|pipe|pipeline status|list|view|get|lint|trace|artifact; mr|issue
  list|view|diff|approvers|show|checkout; mr|issue issues; repo
  view|list|clone|search|contributors|archive; release list|view|download;
  label|milestone|variable|schedule|snippet|cluster|incident|iteration|ssh-key|deploy-key list|ls;
  job artifact|list; auth status; config get; check-update|version|help|completion|user; duo ask;
  api ! -X|--method|-f|-F|--field|--raw-field|--input; securefile list; token list; stack
  list|diff
jira linear slack-cli slack notion asana trello monday clickup confluence-cli todoist zulip-send >
  hosting.change > -p -q -s > * list|view|ls|show|search;
  me|open|serverinfo|version|--version|list|ls; sprint list; epic list; board list
circleci travis buildkite-agent bk drone woodpecker jenkins-cli teamcity semaphoreci buddy argo
  concourse gitlab-runner > hosting.change > > config|local|version|--version|list|status; *
  list|ls|get|show|logs|info|validate|process|view|status|lint;
  diagnostic|info|lint|logs|whoami|verify|exec; config validate|process|pack; orb
  list|info|validate|source; local execute; template lint
packer > iac.change > -var -var-file -only -except >
  fmt|validate|inspect|version|console|hcl2_upgrade|-version; plugins installed|required; init
tfc tfe tfx scalr spacectl env0 atlantis terramate terraformer cf-terraforming driftctl tfmigrate
  tfupdate terratag > iac.change > > * list|show|ls|get; version|--version|list|fmt|scan|validate;
  generate|gen|plan|local-preview|whoami|status|experimental-list;
tmate upterm sshx teleconsole tty-share gotty ttyd wetty shellinabox shellinaboxd websocketd
  webtty zerotier-cli nebula headscale pwnat > net.listen > >
  version|--version|status|info|--help|-h
tailscale netbird zerotier wg wg-quick openvpn wireguard-go > net.listen > >
  status|ip|ping|netcheck|version|whois|dns|metrics|show|peers|info|list|--version|bugreport;
  routes list
code-server openvscode-server jupyterhub rstudio-server theia livebook voila panel bokeh >
  net.listen > --port -p > --version|--help|version|secret|info; * &
  --bind-addr=127.|--bind-addr=localhost; $ & --bind-addr=127.|--bind-addr=localhost; $ !
  --bind-addr|--auth|--host|--ip; * !
  --bind-addr|--auth|--host|--ip|--allow-websocket-origin|--address
etcd zookeeper-server-start kafka-server-start elasticsearch opensearch rabbitmq-server influxd
  prometheus grafana-server nats-server mosquitto clickhouse-server meilisearch typesense-server
  qdrant weaviate chroma milvus memgraph > net.listen > > --version|version|--help|check|-v
chezmoi yadm stow dotbot rcup mackup home-manager nixos-rebuild darwin-rebuild > system.change >
  -d -t -C >
  status|diff|doctor|data|managed|unmanaged|list|log|verify|cat|dump|source-path|generations|news|build|dry-build;
  dry-activate|option|--version|execute-template|archive; * & -n|--dry-run|--simulate|--no
nix-build nix-instantiate nix-eval nixpkgs-fmt nixfmt alejandra statix deadnix nil nixd nix-diff
  nix-tree nix-info nix-prefetch-url nix-prefetch-git nvd nix-output-monitor nom nix-hash >
  tool.unknown > > *
nix-store > system.change > > * & -q|--query|--verify|--check-validity|--realise|-r|--print-env|-l
nix-collect-garbage nix-channel > system.change > > * & --dry-run|--list
cachix > pkg.publish > > --version|doctor
gitguardian ggshield > hosting.change > > secret scan; iac scan; sca scan;
  status|quota|api-status|--version|config list
module ml > system.change > >
  avail|av|list|load|unload|purge|show|spider|whatis|swap|use|help|keyword;
  add|rm|display|overview|save|restore|savelist; $
perf > debug.attach > -i -g --sort >
  report|script|annotate|list|diff|bench|test|version|buildid-list|data|evlist; sched|lock|kmem
  latency|report|script|timehist|map
bpftool > system.kernel > -p -j > * list|show|dump|help; version|feature
cap > iac.change > > sync|copy|doctor|ls|build|run|open|update|--version; $ & -T|--tasks|--version
lefthook overcommit prek > hook.install > > run|validate|version|dump|check-install|list|-l; $ &
  --run|-r|--list-hooks|-l; -a|--all-files; run
stern kubetail kail kubectl-neat kubectl-tree kubectl-view-allocations > k8s.change > > *
accelerate > jobs.change > > launch|config|env|test|estimate-memory
idea pycharm webstorm goland clion rider phpstorm rubymine > program.opens > > inspect|format|diff
minisign signify > sign.change > -p -m -x > $ & -V|-Vm|-v; * & -V|-Vm|-v
mkcert > system.change > > $ & -CAROOT|-help|-version; * ! -install|-uninstall|-CAROOT
amtool > remote.change > --alertmanager.url > check-config|config|alert; silence query; template;
  cluster
logcli mimirtool tempo-cli > remote.change > --addr >
  query|labels|series|instant-query|stats|rules; fmt|volume|config|analyse|version
vector fluent-bit otelcol otelcol-contrib telegraf filebeat alloy > net.listen > -c --config >
  validate|test|version|list|graph|generate|fmt|components|vrl; * & --dry-run|--test; $ &
  --dry-run|--test|--version|-D; test config|output
envoy > net.listen > -c --mode > $ & --mode=validate|--version
certbot acme.sh lego > remote.change > > certificates|plugins|show_account|list; * & --dry-run; $
  & --list|--info|--version
kyverno > k8s.change > > test|version|jp|json; apply ! -c|--cluster
asyncapi > hosting.change > >
  validate|generate|bundle|diff|convert|format|optimize|config|new|start
step > sign.change > > certificate inspect|verify|lint|fingerprint|format|needs-renewal; version;
  crypto hash|rand|jwt-inspect; ca health
toxiproxy-cli > remote.change > > list|ls|inspect|i
"""
