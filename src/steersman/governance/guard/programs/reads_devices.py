"""Tools for phones, boards, signed apps, Windows and backups: the verbs that only look or build.

Each entry: the program's names > the rule that asks about everything else > its options that take
a value > what is safe, in the language of `verbs.py`.
"""

DEVICES = """
adb > device.change > -s -t -H -P -L >
  devices|get-state|get-serialno|get-devpath|version|help|logcat|start-server|wait-for-*|bugreport;
  mdns|features|host-features|jdwp|install|install-multiple; forward|reverse & --list
getprop dumpsys logcat screencap > device.change > > *
pm > device.change > > list|path|dump
am > device.change > -n -a -d -e -w > start|start-activity|instrument|stack|get-config|monitor
input > device.change > > tap|swipe|text|keyevent|roll
fastboot > device.change > -s > devices|getvar|--version|help; oem device-info
emulator > device.change > -avd -port > $ & -list-avds|-version|-accel-check|-help; $ & -avd !
  -wipe-data; @* ! -wipe-data
avdmanager > device.change > -n -k -d -p --name --package --device > list
sdkmanager > pkg.install > --sdk_root --channel --proxy > $ & --list|--list_installed|--version
apkanalyzer aapt aapt2 dexdump baksmali apktool jadx dex2jar bundletool zipalign > tool.unknown >
  --human-readable -h -v -o > * ! --ks
apksigner > tool.unknown > --in --out > verify|version|help|lineage
altool > pkg.publish > -f --file -t --type -u --username -p --password --apiKey --apiIssuer > * &
  --validate-app|--list-apps|--list-providers|-v|--help
notarytool > pkg.publish > --keychain-profile --apple-id --team-id --password --key --key-id >
  history|info|log|wait|help
stapler > tool.unknown > > validate|staple
simctl > device.change > > list|boot|install|launch|io|openurl|get_app_container|spawn|status_bar;
  getenv|terminate|appinfo|listapps|diagnose|logverbose|bootstatus|help|create|shutdown|push;
  privacy|location|ui|pbcopy|addmedia|uninstall|clone|rename|pair
xcresulttool xctrace xccov actool ibtool momc dyld_info vtool swift-demangle dwarfdump atos
  symbols xctest instruments docc swift-format agvtool segedit > tool.unknown > --template
  --output --launch --path > * ! --attach|--all-processes
xcode-select > system.change > > $ & -p|--print-path|-v|--version
xcodes > pkg.install > > list|installed|version|signout
codesign > sign.change > -R -r > $ & -v|-vv|-vvv|--verify|-d|-dv|-dvv|-dvvv|-dvvvv|--display; * &
  -v|-vv|-vvv|--verify|-d|-dv|-dvv|-dvvv|-dvvvv|--display ! -s|--sign|--remove-signature|-f
pkgutil > system.change > > * &
  --pkgs|--files|--pkg-info|--check-signature|--expand|--payload-files
mdls dyldinfo > tool.unknown > > *
ios-deploy > device.change > -i --id -b --bundle > * & -c|--detect|-B|--list_bundle_id|-l|--list
ideviceinfo idevice_id idevicesyslog idevicename idevicescreenshot > device.change > -u -k -q > *
ideviceinstaller > device.change > -u > list|-l; * & -l|--list-apps
maestro > hosting.change > --device --format --output >
  test|hierarchy|studio|start-device|--version
shorebird > pkg.publish > > doctor|preview|--version|releases; releases list
flutterfire appcenter codepush code-push > hosting.change > -a --app > * list|show|history;
  --version
cordova ionic capacitor tauri neutralino nativescript ns electron-forge > pkg.publish > >
  build|run|prepare|compile|emulate|requirements|info|serve|doctor|sync|copy|open|ls|list|dev|start;
  package|make|icon|telemetry|signer; plugin ls|list; platform ls|list
electron-builder > pkg.publish > -c --config -w -m -l --mac --win --linux --projectDir > * & --dir
  ! -p|--publish; $ & -p=never; $ & --publish=never; * & -p=never; * & --publish=never;
  install-app-deps|node-gyp-rebuild|create-self-signed-cert|start; $ ! -p|--publish
idf.py > device.change > -p --port -b --baud -C --project-dir -B --build-dir -D -G --preview > no
  ~ flash|*-flash|erase*|*-efuse*|efuse-burn*|dfu-flash;
  build|all|app|bootloader|partition-table|size|size-components|size-files|reconfigure|set-target;
  menuconfig|clean|fullclean|confserver|docs|monitor|partition_table|save-defconfig|--version;
  create-project|create-component|show-efuse-table|efuse-summary|lint|uf2|merge-bin|python-clean
west > device.change > -z -d --build-dir -b --board --runner -r >
  build|boards|list|topdir|manifest; completion|twister|shields|packages|spdx|zephyr-export; sdk
  list; config; diff; status; help
platformio pio > device.change > -e --environment -d --project-dir -t --target -c > run|test|check
  & --target=buildprog|--target=size|--target=clean|-t=size|-t=clean|-t=compiledb;
  run|test|check|debug ! -t|--target; boards|settings|system|home; device list|monitor; pkg
  list|show|search|outdated; project config|metadata|init; --version; ci; lib list|search|show
arduino-cli > device.change > -b --fqbn -p --port --build-path -l --library --config-file >
  compile ! -u|--upload; board list|listall|details|search|attach; core list|search; lib
  list|search|examples|deps; config dump|get; sketch new|archive; version|monitor|debug-check
esptool esptool.py > device.change > -p --port -b --baud -c --chip --before --after
  --connect-attempts >
  chip_id|flash_id|read_mac|version|image_info|elf2image|merge_bin|make_image|get_security_info;
  chip-id|flash-id|read-mac|image-info|merge-bin|get-security-info|read_flash_status|run|--help;
  read-flash-status|verify_flash|verify-flash
espefuse espefuse.py > device.change > -p --port -b --baud -c --chip --before >
  summary|dump|adc_info; get_custom_mac|get-custom-mac|adc-info|check_error|check-error
espsecure espsecure.py > device.change > -k --keyfile > digest_*|signature_info*|verify_*|verify-*
openocd > device.change > -f -s -d -l > $ & --version|-v|--help
avrdude > device.change > -p -c -P -b -B -C -l -F > $ ! -U|-e|-t & -n|-v|-?; $ ! -U|-e|-t
dfu-util > device.change > -d -a -s -S -p > $ & -l|--list|-V
st-flash > device.change > --serial --freq > --version|--help
st-info JLinkSWOViewer > device.change > > *
STM32_Programmer_CLI > device.change > -c --connect > $ & -l|--list|-h|--version; $ & -c !
  -w|-e|-ob|-d
nrfjprog > device.change > -f --family -s --snr --memrd --n > * &
  -i|--ids|-v|--version|--memrd|--com
nrfutil > device.change > > list|version|--version|help; device list|device-info|core-info; pkg
  display
pyocd > device.change > -t --target -u --uid > list|json|--version|pack-find; pack find|show
probe-rs cargo-flash cargo-embed > device.change > --chip --probe > list|info|chip|--version; chip
  list|info
picotool > device.change > > info|help|version|config-read|uf2
mpremote ampy rshell mpfshell > device.change > -p --port -d -b > devs|ls|--version|connect list
bossac teensy_loader_cli stm32flash openFPGALoader iceprog uhubctl dfu-programmer lpc21isp
  ch341prog wchisp mspdebug flash_tool rkdeveloptool fel sunxi-fel uuu blhost > device.change > >
  -v|--version|info
dtc fdtdump fdtget mkimage dumpimage srec_cat srec_info hex2bin bin2hex elf2uf2 uf2conv uf2conv.py
  sigrok-cli gtkwave nextpnr icepack icetime ecppack prjxray yosys-smtbmc sby cocotb-config surfer
  kconfiglib genconfig alldefconfig olddefconfig savedefconfig menuconfig guiconfig bitbake-layers
  bitbake-getvar simavr renode renode-test wokwi-cli ghdl-ls vsg verible-verilog-lint
  verible-verilog-format svlint svls slang sv2v netlistsvg fritzing kicad-cli gerbv openscad
  freecadcmd > tool.unknown > > *
bitbake kas > tool.unknown > -c --cmd > *
squeue sinfo sacct sstat sprio sshare sreport sdiag sattach qstat qhost bjobs bqueues bhosts bhist
  pbsnodes condor_q condor_status condor_history lsload lshosts sview smap tracejob showq
  flux-jobs > jobs.change > > *
scontrol > jobs.change > > show|ping|version|listpids|hostname|hostnames|getaddrs
sacctmgr > jobs.change > > show|list|version
sbatch salloc > jobs.change > -J -p -t -n -N -o -e > * & --test-only|-V|--version
scancel qdel qsub qalter qmod qhold qrls bsub bkill bstop bmod bresume condor_submit condor_rm
  condor_hold condor_release qresub sbcast strigger jsub > jobs.change > > --version
restic rustic > backup.change > -r --repo --repository-file -p --password-file -o --cache-dir -H
  --host --tag --path -n --last >
  snapshots|ls|find|stats|diff|check|list|version|cache|help|cat|self-check; key list;
  forget|backup|prune|restore|rewrite & -n|--dry-run
borg borgmatic > backup.change > -r --repo --rsh --last --first --format -a --glob-archives -P
  --prefix -c --config >
  list|info|diff|check|version|help|rlist|rinfo|repo-list|repo-info|repo-space;
  benchmark|config-list|validate|generate; key-info; * & -n|--dry-run ! --repair
duplicity duply > backup.change > --time --file-to-restore >
  collection-status|list-current-files|verify|status; * list|status|verify; * & --dry-run
kopia > backup.change > --config-file > * list|ls|info|show|status|stats|verify|history;
  version|ls|show; diff|help|list; repository status|validate-provider; snapshot
  list|verify|estimate; policy show|list
duplicacy bup rdiff-backup tarsnap autorestic pgbackrest barman wal-g wal-e litestream
  proxmox-backup-client snapper timeshift attic zbackup resticprofile backrest rsnapshot >
  backup.change > --stanza --config -c --repo -f --profile --name >
  list*|info|check|verify|status|version|show*|ls;
  snapshots|databases|generations|wal|ltx|diff|snapshot-list|configtest|help|stats|compare|--list;
  -l; * & --list|--dry-run|--list-archives|--stats-only|--print-stats-only
ipconfig > system.change > > $; /all|/displaydns|-all|getifaddr|getpacket|getsummary
wslpath wslvar wslinfo tasklist where systeminfo getmac driverquery tracert findstr ver qprocess
  query quser pathping winver sigcheck wslfetch wslsys > system.change > > *
sc > windows.system > > query|queryex|qc|qdescription|sdshow|getkeyname
powercfg > windows.system > >
  /list|/l|/query|/q|/a|/availablesleepstates|/batteryreport|/energy|/getactivescheme|-list|/requests
netsh > windows.system > > * show; * * show; show; wlan show ! key; interface show|ip
taskkill bcdboot setx assoc ftype wevtutil mountvol chkdsk sfc dism manage-bde logoff tskill wusa
  cmdkey runas psexec mklink defrag label gpupdate reagentc sdbinst robocopy xcopy winrs dsmod
  netdom certreq lodctr compact Dism > windows.system > > /?
explorer notepad devenv > system.change > > $; .
"""
