%% Results of ExUnit, written test by test: one more formatter beside the project's.
-module(kotef_exunit).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3]).

%% What a test starts tells nothing.
init(_Options) ->
    case os:getenv("KOTEF_REPORTS_NESTED") of
        false -> os:putenv("KOTEF_REPORTS_NESTED", os:getpid()), {ok, []};
        _ -> {ok, nested}
    end.

handle_call(_Request, _From, Tests) -> {reply, ok, Tests}.

handle_cast(_Event, nested) -> {noreply, nested};
handle_cast({test_finished, Test}, Tests) -> {noreply, [entry(Test) | Tests]};
handle_cast({suite_finished, _}, Tests) -> write(Tests), {noreply, Tests};
handle_cast({suite_finished, _, _}, Tests) -> write(Tests), {noreply, Tests};
handle_cast(_Event, Tests) -> {noreply, Tests}.

handle_info(_Message, Tests) -> {noreply, Tests}.

terminate(_Reason, _Tests) -> ok.

code_change(_Version, Tests, _Extra) -> {ok, Tests}.

entry(#{name := Name, module := Module, state := State, tags := Tags}) ->
    File = unicode:characters_to_binary(maps:get(file, Tags, "")),
    Place = case atom_to_binary(Module, utf8) of <<"Elixir.", Rest/binary>> -> Rest; Other -> Other end,
    ["[", text(File), ",", text(Place), ",[", text(Place), ",", text(atom_to_binary(Name, utf8)), "],", text(status(State)), "]"].

status(nil) -> <<"passed">>;
status({failed, _}) -> <<"failed">>;
status({invalid, _}) -> <<"error">>;
status(_SkippedOrExcluded) -> <<"skipped">>.

text(Binary) -> ["\"", [character(Character) || Character <- unicode:characters_to_list(Binary)], "\""].

character($") -> "\\\"";
character($\\) -> "\\\\";
character(Character) when Character < 32 -> io_lib:format("\\u~4.16.0b", [Character]);
character(Character) -> [Character].

write([]) -> ok;
write(Tests) ->
    Path = filename:join(os:getenv("KOTEF_REPORTS"), "exunit-" ++ os:getpid() ++ ".json"),
    Report = ["{\"tests\":[", lists:join(",", Tests), "]}"],
    _ = file:write_file(Path ++ ".part", unicode:characters_to_binary(Report)),
    file:rename(Path ++ ".part", Path).
