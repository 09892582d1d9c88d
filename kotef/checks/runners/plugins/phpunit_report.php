<?php
// Asks PHPUnit and Pest for a JUnit report; read by PHP in front of the program that is started.

(static function (): void {
    $folder = getenv('KOTEF_REPORTS');
    $arguments = $_SERVER['argv'] ?? [];
    if (PHP_SAPI !== 'cli' || !is_string($folder) || $folder === '' || getenv('KOTEF_REPORTS_NESTED') !== false) {
        return;
    }
    $program = basename((string) ($arguments[0] ?? ''));
    if (!preg_match('/^(phpunit|pest|paratest)(-[\d.]+)?(\.phar|\.php)?$/', $program)) {
        return;
    }
    foreach ($arguments as $argument) {
        if (preg_match('/^--(log-junit|list-|version|help|generate-|migrate-|check-)/', (string) $argument)) {
            return;
        }
    }
    putenv('KOTEF_REPORTS_NESTED=' . getmypid()); // what a test starts tells nothing
    $_SERVER['argv'][] = '--log-junit';
    $_SERVER['argv'][] = "$folder/phpunit-" . getmypid() . '.xml';
    $_SERVER['argc'] = count($_SERVER['argv']);
    $GLOBALS['argv'] = $_SERVER['argv'];
    $GLOBALS['argc'] = $_SERVER['argc'];
})();
