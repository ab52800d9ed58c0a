/** It looks like a secret by its name, or makes the programs that get it load or run something. */
export function isSensitive(name: string): boolean {
  return looksSecret(name) || LOADS_CODE.test(name);
}

const SECRET_ANYWHERE =
  /TOKEN|SECRET|PASSW|PASSPHRASE|PASSFILE|CREDENTIAL|COOKIE|API_?KEY|PRIVATE_?KEY|KEY(?:RING|CHAIN|STORE|FILE)|CONNECTION_?STRING|WEBHOOK/;
const SECRET_PART =
  /^(?:.*KEYS?|PASS|.+PWD|PWD|AUTH|OAUTH|AUTHORIZATION|XAUTHORITY|CREDS?|PAT|JWT|BEARER|DSN|SALT|SAS|OTP|PIN|PEM|NETRC|KRB|KUBECONFIG|GNUPGHOME)$/;
const SECRET_WHOLE =
  /^(?:DATABASE|DB|REDIS|MONGO(?:DB)?|POSTGRES(?:QL)?|AMQP|CELERY_BROKER)_UR[IL]$/;
/** The shell's working directories. */
const WORKING_DIRECTORY = /^(?:OLD)?PWD$/;

export function looksSecret(name: string): boolean {
  const words = name.replace(/([a-z\d])([A-Z])/g, '$1_$2').toUpperCase();
  if (WORKING_DIRECTORY.test(words)) return false;
  if (SECRET_ANYWHERE.test(words) || SECRET_WHOLE.test(words)) return true;
  return words.split(/[^A-Z]+/).some((part) => SECRET_PART.test(part));
}

// By families: the dynamic loader, interpreters and what they import or run at their start, shells, and what tools run to
// ask for a password.
const LOADS_CODE = new RegExp(
  `^(?:${[
    'LD_.*|_RLD.*|DYLD_.*|LIBPATH|SHLIB_PATH|GCONV_PATH|GLIBC_TUNABLES|LOCPATH',
    'PYTHON(?:STARTUP|PATH|HOME|INSPECT|BREAKPOINT|WARNINGS|USERBASE|EXECUTABLE|PLATLIBDIR|PYCACHEPREFIX)',
    '__PYVENV_LAUNCHER__|PYTHON_PRESITE',
    'BASH_ENV|ENV|BASH_FUNC_.*|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|PS4|ZDOTDIR|IFS',
    'NODE_OPTIONS|NODE_PATH|NODE_REPL_EXTERNAL_MODULE|NODE_EXTRA_CA_CERTS',
    'PERL5?(?:OPT|LIB|DB)|PERL5DB.*|RUBY(?:OPT|LIB)|GEM_(?:HOME|PATH)|PHPRC|PHP_INI_SCAN_DIR|LUA_(?:INIT.*|C?PATH.*)',
    'R_(?:PROFILE.*|ENVIRON.*|LIBS.*)|JULIA_(?:LOAD_PATH|DEPOT_PATH)',
    '_?JAVA_OPTIONS|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH',
    'DOTNET_STARTUP_HOOKS|(?:COR|CORECLR)_.*PROFIL.*',
    'GIT_(?:SSH.*|ASKPASS|EXTERNAL_DIFF|PROXY_COMMAND|CONFIG.*|EXEC_PATH|TEMPLATE_DIR)',
    'S(?:SH|UDO)_ASKPASS',
    'GTK_(?:PATH|MODULES)|QT_(?:QPA_PLATFORM_)?PLUGIN_PATH|OPENSSL_(?:CONF|ENGINES|MODULES)',
  ].join('|')})$`,
  'i',
);

/** An address with a password in it, as proxies and databases have. */
export function holdsPassword(value: string): boolean {
  return /[a-z][a-z\d+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i.test(value);
}
