{#- The stamp of the rows. dbt compiles a model before it begins, so this is the expression that
    answers the id while the model runs. Where nothing is begun (a unit test, dbt show) it is NULL;
    in a build without omd.begin() it fails. -#}

{% macro module_instance_id() %}
    {%- if execute and config.get("materialized") in ["view", "materialized_view"] -%}
        {%- do exceptions.raise_compiler_error(
            "omd.module_instance_id(): " ~ model.name ~ " is a " ~ config.get("materialized")
            ~ ", whose rows are made by who reads it; stamp the rows of tables"
        ) -%}
    {%- elif model.resource_type == "unit_test" or flags.WHICH == "show" -%}
        {%- do return("NULL::bigint") -%}
    {%- endif -%}
    {%- do return("current_setting('omd.module_instance_id')::bigint") -%}
{% endmacro %}
