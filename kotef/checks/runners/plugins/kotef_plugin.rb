# Results of minitest, written test by test; minitest finds it by its name on the load path, as it finds its plug-ins.

module Minitest
  # What became of each test of this process; the results of workers come back to the process that started them.
  module KotefReport
    FOLDER = ENV["KOTEF_REPORTS"].to_s
    OWNER = Process.pid
    TESTS = []
    # What a test starts tells nothing.
    NESTED = ENV.key?("KOTEF_REPORTS_NESTED")

    def start
      ENV["KOTEF_REPORTS_NESTED"] ||= OWNER.to_s
      super
    end

    def record(result)
      TESTS << KotefReport.entry(result)
      super
    end

    def report
      super
    ensure
      KotefReport.write
    end

    def self.entry(result)
      name = result.respond_to?(:klass) ? result.klass : result.class.name
      file = result.respond_to?(:source_location) ? result.source_location&.first : result.method(result.name).source_location&.first
      file = file.to_s == "unknown" ? "" : file.to_s
      status = "passed"
      status = "failed" unless result.passed?
      status = "error" if result.error?
      status = "skipped" if result.skipped?
      test = result.name.to_s.sub(/\Atest_\d{4}_/, "")
      [file.empty? ? "" : File.expand_path(file), name.to_s, [name.to_s, test], status]
    end

    def self.write
      return if Process.pid != OWNER || TESTS.empty?

      require "json"
      path = File.join(FOLDER, "minitest-#{Process.pid}.json")
      File.write("#{path}.part", JSON.generate({ "tests" => TESTS }))
      File.rename("#{path}.part", path)
    rescue SystemCallError, JSON::GeneratorError
      nil
    end
  end

  if KotefReport::FOLDER != "" && !KotefReport::NESTED && defined?(CompositeReporter)
    CompositeReporter.prepend(KotefReport)
  end
end
