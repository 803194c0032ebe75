"""Verbs of programs that change things elsewhere: clouds, clusters, containers, hosts."""

_AWS = """
safe : help; sts get-caller-identity; configure list|list-profiles
block secrets.print : secretsmanager get-secret-value|batch-get-secret-value;
  ssm get-parameter* & --with-decryption; configure get *secret*|*token*|*key*;
  configure export-credentials; sts get-session-token|assume-role*|get-federation-token;
  ecr get-login*; ecr-public get-login*; iam create-access-key; kms decrypt; eks get-token;
  rds generate-db-auth-token; codeartifact get-authorization-token; sso get-role-credentials;
  redshift get-cluster-credentials*
block cloud.delete : s3 rb|rm; s3 sync & --delete
ask cloud.change : s3 cp|mv|sync|mb|presign|website
block cloud.change -- opens an account or its data to others :
  iam attach-*-policy & --policy-arn=Admin; s3api put-bucket-acl & --acl=public;
  iam put-user-policy|create-login-profile|update-assume-role-policy;
  s3api put-bucket-policy; ec2 authorize-security-group-ingress & --cidr=0.0.0.0/0
safe : s3 ls; * help|wait|scan|query|tail;
  * describe-*|get-*|list-*|head-*|lookup-*|search-*|view-*|filter-*|batch-get-*|preview-*;
  * estimate-*|validate-*|select-*|detect-*|check-*|simulate-*|test-*|tail
block cloud.delete : * delete*|terminate-*|purge-*|destroy*|remove-*|deregister-*|revoke-*|rm|rb;
  * schedule-key-deletion|close-account|leave-organization|batch-delete*|disable-key|wipe*|empty-*;
  * release-*|reset-*|force-*|disassociate-*|detach-*|disable-*|terminate|cancel-*|stop-logging
ask cloud.change : *
"""
_CLOUD = """
safe : listen & --forward-to=localhost|--forward-to=127.|-f=localhost|-f=127.;
  listen ! --forward-to|-f;
  trigger; events resend; samples list; fixtures
safe : bicep build|build-params|lint|format|decompile|version|list-versions|generate-params;
  schema inspect|diff|fmt|lint|test|validate; migrate status|lint|diff|validate|hash|test|ls;
  deployment group|sub|mg|tenant what-if|validate|show|list; group|sub|mg|tenant what-if;
  bundle validate|summary|schema; deployment validate|what-if; stack validate; test-iam-permissions
block secrets.print : auth print-access-token|print-identity-token|token|print-refresh-token;
  auth application-default print-access-token; secrets versions access; account get-access-token;
  keyvault secret show|download; iam service-accounts keys create; storage account keys list;
  auth:token; config:get; secret show|reveal; acr credential show; cosmosdb keys list;
  functionapp keys list; redis list-keys; ad sp create-for-rbac; ad sp credential reset;
  keyvault key download; webapp config connection-string list; aks get-credentials & --admin;
  account keys; login; config & -s
ask cloud.change : auth login|revoke|activate-service-account; login|logout; config set|unset;
  cp|mv|rsync ! -d; mb
block cloud.delete : rsync & -d|-r & -d; rb; rm
block cloud.delete : ~ delete|destroy|terminate|purge|undeploy|erase|nuke|wipe
safe : ~ list|ls|show|describe|info|status|get-value|whoami|regions|versions|logs|tail|read|wait;
  ~ list-*|show-*|describe-*|get-*|*:info|*:list|get; config configurations; version; help;
  apps|releases|addons|domains|ps|topic|search|doctor|docs|stat|du|cat|head|ls|get|query
block cloud.delete : ~ rm|remove|drop|rb;
  ~ *:destroy|*:delete|*:remove|*:reset|delete-*|remove-*|destroy-*|deprovision|reset|delete-all;
  ~ uninstall|*-delete|*-destroy|*-remove|*-rm|*-purge|*-terminate|*:purge|*:wipe;
  ~ Delete*|Terminate*;
  ~ teardown|decommission|release-*|revoke-*|flush|flush-*|empty|empty-*|drop-*|deprovision-*|prune
block cloud.change -- opens a project to others : ~ add-iam-policy-binding & --role=owner;
  ~ add-iam-policy-binding & --member=allUsers; role assignment create & --role=Owner
ask cloud.change : *
"""
_GH = """
block hosting.delete : repo delete|archive; secret delete|remove; release delete & --yes|-y;
  variable delete; ssh-key delete; gpg-key delete; cache delete & --all|-a; project delete;
  codespace delete & --all; issue delete & --yes|-y; api & -X=DELETE; api & --method=DELETE;
  release delete-asset; org delete; group delete; ci delete; mr delete
block hosting.change -- decides who can see a repository : repo edit & --visibility
block secrets.print : auth token; auth status & -t|--show-token
safe : pr|mr list|view|diff|status|checks|checkout; issue list|view|status;
  release list|view|download;
  run list|view|watch|download; repo view|list|clone|set-default; workflow list|view; ci list|view;
  gist list|view; label list; secret list; variable list; cache list; extension list|search;
  config get|list; alias list; ssh-key list; org list; ruleset list|view|check; auth status; search;
  browse; status; completion; help; attestation; version
safe : api ! -X|--method|-f|-F|--field|--raw-field|--input
ask hosting.change : *
"""
_KUBECTL = """
safe : apply|create|delete|run|patch|replace|scale|annotate|label|set|expose|autoscale & --dry-run;
  drain & --dry-run
block k8s.delete : delete & --all|-A|--all-namespaces; drain; replace & --force;
  delete namespace|namespaces|ns|node|nodes|no|pv|pvc|persistentvolume*|crd|crds|all|secret|secrets;
  delete clusterrole*|statefulset*|sts|storageclass*|sc|customresourcedefinition*|csr|apiservice*;
  delete ns/*|namespace/*|node/*|pvc/*|pv/*|crd/*|sts/*|statefulset/*|secret/*;
  delete & --force & --grace-period; scale & --replicas=0 & --all; adm drain|prune; delete project
block k8s.delete -- changes production :
  delete|drain|replace|scale|patch|rollout|edit|set|taint & --context=prod;
  delete|drain|replace|scale|patch|rollout|edit|set & -n=prod;
  delete|drain|replace|scale|patch|rollout|edit|set & --namespace=prod;
  delete & -n=kube-system; delete & --namespace=kube-system; delete & --cluster=prod
block k8s.access -- gives rights over the whole cluster : create clusterrolebinding;
  create rolebinding & --clusterrole=admin; certificate approve; adm policy
block secrets.print : get secret|secrets & -o=yaml|-o=json|--output=yaml|--output=json|-A;
  get secret/* & -o|--output; config view & --raw; create token; whoami & -t;
  get secret|secrets & -o=go-template|--output=go-template|--template
safe : get|describe|logs|explain|version|cluster-info|api-resources|api-versions|top|diff|wait;
  port-forward ! --address;
  events|options|completion|kustomize|plugin|help|status|whoami|projects; auth can-i|whoami;
  config view|get-contexts|current-context|get-clusters|get-users; rollout status|history
ask k8s.change : *
"""
_HELM = """
safe : list|ls|status|get|history|show|inspect|search|template|lint|version|env|help|verify|package;
  dependency|dep|create|test|pull|completion|diff; repo list; plugin list;
  install|upgrade|uninstall|rollback|delete & --dry-run
block k8s.delete -- removes what production runs : uninstall|delete|un|del|destroy *prod*;
  uninstall|delete|un|del|destroy & -n=prod; uninstall|delete|un|del & --namespace=prod;
  uninstall|delete|un|del & --kube-context=prod; uninstall|delete|un|del & --no-hooks;
  uninstall|delete|un|del kube-system|cert-manager|ingress*|istio*|cilium|calico; destroy
ask k8s.change : *
"""
_TERRAFORM = """
ask code.unknown -- fetches a module from elsewhere : init & -from-module
safe : plan|fmt|validate|show|output|version|providers|graph|console|get|test|help|hclfmt|init;
  render-json|graph-dependencies|modules|metadata|-version; state list|show|pull;
  workspace list|show|select|new; run-all plan|validate|init|output; run plan
block iac.destroy : destroy & -auto-approve|--auto-approve|-force|--force|-y|--yes;
  destroy & --terragrunt-non-interactive|--non-interactive; run-all|run destroy; destroy-all;
  apply & -destroy & -auto-approve|--auto-approve; stack run destroy; workspace delete & -force;
  run-all apply & --terragrunt-non-interactive; state push & -force
ask iac.destroy : destroy; apply & -destroy; apply-all
ask iac.change : *
"""
_PULUMI = """
block iac.destroy : destroy|down|dn & --yes|-y|--skip-preview|-f; stack rm & --force|--yes|-y|-f;
  state delete & --force|--yes|-y; stack rm
block secrets.print : config|stack & --show-secrets
safe : preview|pre|whoami|about|version|logs|console|help|convert|package|history|schema;
  gen-completion; stack ls|output|graph|history|export; config get; stack select|tag
ask iac.change : destroy|down|dn|up|update|refresh|import|login|logout|new|watch|state|cancel|env|rm
ask iac.change : stack init|rename|import|change-secrets-provider; config set|rm|set-all|refresh;
  org|install|plugin|policy
safe : stack; config
ask iac.change : *
"""
_CDK = """
safe : synth|synthesize|diff|ls|list|doctor|docs|context|acknowledge|notices|metadata|init|build;
  validate|local|logs|info|print|package|invoke|test|plugin|version|status|health|events|printenv
block iac.destroy : destroy|terminate|down & -f|--force|-y|--yes|--no-prompts|--no-prompt;
  remove|rm|delete|terminate; env delete; app delete; svc delete
ask iac.destroy : destroy
ask iac.change : *
"""
_REMOTE_RUN = """
safe : * & --check|-C|--list-hosts|--list-tasks|--syntax-check|--list-tags|--noop;
  * & --why-run|--version; * list|show|search|status|download; * * list|show; parser|lookup|facts;
  list|collection list|role list|search|info|module|validate
block remote.delete -- deletes something on other machines or their records :
  ~ delete|destroy|purge;
  * * delete; * bulk delete|destroy
ask iac.change -- changes other machines : *
"""
_DOCKER = """
break docker.everything : system|volume prune; system|machine reset;
  builder|buildx|image prune & -a|--all
ask docker.delete : container|network|builder|buildx|image|pod prune; buildx rm
block docker.delete : swarm leave & -f|--force; stack rm|remove|down; service rm|remove;
  node rm|remove; secret rm|remove; config rm; context rm & -f|--force; plugin rm|disable;
  volume rm|remove & -f|--force; pod rm & -a|--all; volume rm & -a|--all; rm|rmi & -a|--all;
  machine rm & -f|--force; trust revoke; volume rm *prod*|*_data|*-data|*pgdata*;
  swarm init & --force-new-cluster
ask docker.publish : push|login|logout; image|compose|manifest push; buildx build|bake & --push;
  trust; build & --push
ask secrets.environment -- prints a container's environment : ~ *.Config.Env*;
  inspect & --format=Config.Env; container inspect & --format=Config.Env
safe : ps|images|logs|inspect|version|info|top|stats|port|diff|history|events|search|build|tag;
  wait|start|attach|create|init|help|pull; system df|info|events;
  image ls|list|inspect|history|build|tag|pull;
  container ls|list|ps|logs|inspect|top|stats|port|diff|start; volume ls|list|inspect|create;
  network ls|list|inspect|create; context ls|list|show|inspect; node ls|inspect;
  buildx ls|inspect|du|build|bake|version|use|create; manifest inspect; secret ls|inspect;
  service ls|logs|ps|inspect; stack ls|ps|services; config ls|inspect; plugin ls|inspect;
  pod ps|ls|inspect; machine ls|info|inspect; builder ls|du; generate; scout
ask docker.change : *
"""
_COMPOSE = """
block docker.delete -- deletes the project's data and images : down & -v|--volumes & --rmi
ask docker.delete : down & -v|--volumes|--rmi; rm & -v|-f|--force|-s|-fsv|-fv; kill|publish|push
safe : down|up|ps|logs|config|ls|images|top|port|version|build|stop|start|restart|pull|events;
  pause|unpause|watch|wait|create|stats|cp|rm|attach|scale|convert|exec|run
ask docker.change : *
"""
_HOSTING = """
block hosting.delete : remove|rm|destroy|delete|purge|teardown; api delete*;
  *:delete|*:destroy|*:remove|*:disable; * delete|destroy|remove|rm|purge|drop|kill|reset;
  * * delete|destroy|remove|rm|purge|drop; firestore:delete|database:remove|hosting:disable;
  down & -y|--yes; env:unset; secret delete; scale count 0
block secrets.print : auth token|print-token; tokens create; secrets get; auth print-access-token
safe : list|ls|status|info|logs|log|whoami|open|version|help|inspect|dev|build|doctor|regions|tail;
  releases|checks|ps|deployments|types|serve|init|use|emulators:*|*:list|pull;
  domains|dns|env ls|list;
  * list|ls|show|info|status|logs|inspect; * * list|ls|show|info; functions serve|new; gen;
  start|stop;
  * dev|serve|types|tail; migration new|list; db diff|lint|dump; core is-installed|version; plugin
  list|status
ask hosting.change : *
"""
_STORE = """
block k8s.delete : del & --prefix|--from-key; del ''|\\0; rm & -r|--recursive; rmdir|deleteall|rmr;
  member remove; snapshot restore; kv delete & -recurse; auth disable; user delete; leave;
  force-leave; job stop & -purge; * & --delete; stop_app|reset|force_reset;
  delete_vhost|delete_queue|purge_queue; stream rm|purge; topics delete
safe : get|ls|endpoint|version|watch|check|members|info|status|catalog|monitor|list|describe;
  server check|list|ping|report|info|ls; account info; member list; kv get; list_*; stream
  ls|info; node status; job status; * & --list|--describe
ask k8s.change : *
"""
_CLUSTER = """
safe : get|list|ls|status|version|info|describe|diff|logs|check|tree|ip|docker-env|validate|events;
  stats|trace|help|nodes|build|render|kustomize|cfg|fn|convert; config get-contexts|view;
  profile list; service list;
  cluster list|info; app get|list|diff|history|logs|manifests|wait;
  * get|list|ls|describe|logs|status|show|history|info|version|events;
  dashboard|proxy-status|analyze
block k8s.delete : delete|destroy|remove|rm cluster|clusters|nodegroup|fargateprofile|namespace;
  delete & --all|--purge|--yes|-y; cluster delete|destroy|rm|remove; reset; uninstall; app delete;
  proj delete; delete-cluster; backup delete
ask k8s.change : *
"""
_VM = """
safe : status|list|ls|info|show*|version|global-status|dominfo|domstate|validate|port|ssh-config;
  find|box|image|storage|config list; domblklist|nodeinfo|help|inspect
block docker.delete -- destroys a virtual machine :
  destroy|delete|purge|remove|rm & -f|--force|-y|-p|--purge|--all;
  undefine & --remove-all-storage|--nvram|--storage; unregistervm & --delete;
  closemedium & --delete;
  vol-delete|pool-delete|pool-destroy; reset & -f|--force|-a|--all; vm.destroy
ask docker.change : *
"""
_V_CLOUD = (
    "--project --region --zone --format --filter --name --resource-group -g -n --subscription "
    "--query --output -o --forward-to --account --profile --app -a --ids --location --role "
    "--member --org --team "
    "-t --space --scope --impersonate-service-account --vault-name --secret"
)
_V_K8S = (
    "-n --namespace --context --kube-context --cluster --user -f --filename -l --selector -o "
    "--output --kubeconfig -c --container --replicas --grace-period --timeout --field-selector "
    "--type -p --patch -k --clusterrole --serviceaccount --as --as-group -s --server --token "
    "--request-timeout --tail --since --set --values --version --image --from-literal --from-file "
    "--sort-by --template"
)
CLOUD: dict[str, dict[str, object]] = {
    "aws": {
        "text": _AWS,
        "valued": "--profile --region --output --query --endpoint-url --policy-arn --acl --cidr",
        "names": "awslocal aws2",
        "doubles": True,
        "dry": "--dry-run --dryrun --generate-cli-skeleton",
    },
    "gcloud": {
        "text": _CLOUD,
        "valued": _V_CLOUD,
        "names": """oci aliyun tccli az doctl heroku linode-cli hcloud ibmcloud scw gsutil bq exo
        vultr-cli civo openstack upctl yc cf databricks tkn ovhcloud clever
        scalingo s3cmd s5cmd mc juju metal confluent atlas pscale turso neonctl
        neon ccloud upstash auth0 okta stripe twilio datadog-ci newrelic pd
        sentry-cli ldcli b2 azcopy nomad-cloud swift-cli ibmcloud-cli linode""",
        "dry": "--dry-run --dryrun",
        "doubles": True,
    },
    "gh": {
        "text": _GH,
        "valued": "-R --repo -L --limit -X --method -f -F --field --raw-field -H --header -q --jq "
        "-t --title -b --body --json -s --state -B --base --head --input -u --user --visibility",
        "names": "hub tea bb",
        "dry": "--dry-run",
    },
    "kubectl": {"text": _KUBECTL, "valued": _V_K8S, "names": "k oc kubecolor"},
    "helm": {"text": _HELM, "valued": _V_K8S, "names": "helm3 helmfile"},
    "terraform": {
        "text": _TERRAFORM,
        "valued": "-var -var-file -target -state",
        "names": "tofu terragrunt tf opentofu",
        "single": True,
    },
    "pulumi": {"text": _PULUMI, "valued": "-s --stack -C --cwd -c --config -t --target -m"},
    "cdk": {
        "text": _CDK,
        "valued": "--app -a --profile -c --context --stack-name -s --stage --region -o --output",
        "names": "sam serverless sls copilot cdktf chalice sst zappa eb amplify arc",
    },
    "ansible-playbook": {
        "text": _REMOTE_RUN,
        "valued": "-i -e -l -t --limit --tags -u -m -a -f",
        "names": "knife chef-client puppet fab pyinfra bolt chef-run chef-solo "
        "mco ansible-galaxy ansible-console ansible-pull cfengine",
    },
    "docker": {
        "text": _DOCKER,
        "valued": "-H --host --context --config -l --log-level --filter --format -t --tag --name "
        "-n --tail --since --until --build-arg --target --platform --file --connection",
        "names": "podman nerdctl finch ctr crictl",
    },
    "docker-compose": {
        "text": _COMPOSE,
        "valued": "-p --project-name --profile --env-file --project-directory --ansi -t --timeout",
        "names": "podman-compose",
    },
    "flyctl": {
        "text": _HOSTING,
        "valued": "-a --app -t --token --project --scope --team --org -c --config --site --env",
        "names": """fly vercel now netlify wrangler firebase railway render surge supabase deployctl
        appwrite hasura nhost convex koyeb zeabur northflank shuttle
        platform acquia terminus wp drush shopify dokku caprover kamal sanity
        contentful""",
        "dry": "--dry-run",
    },
    "etcdctl": {
        "text": _STORE,
        "valued": "--endpoints --cacert --cert --key",
        "names": "consul nomad zkCli.sh kafka-topics kafka-topics.sh rabbitmqctl kafkactl nats "
        "pulsar-admin kafka-consumer-groups kafka-configs",
    },
    "eksctl": {
        "text": _CLUSTER,
        "valued": "--region -n --cluster -f --context -p --profile",
        "names": "kind k3d minikube kops kubeadm k3s k0s rke talosctl argocd flux istioctl linkerd "
        "cilium kustomize skaffold tilt devspace garden okteto velero clusterctl rancher microk8s "
        "kompose kubens kubectx k9s telepresence",
    },
    "virsh": {
        "text": _VM,
        "valued": "-c --connect",
        "names": "VBoxManage vboxmanage vagrant multipass lxc incus limactl qm pct prlctl vmrun "
        "machinectl distrobox toolbox colima orb orbctl xe esxcli govc",
    },
}
