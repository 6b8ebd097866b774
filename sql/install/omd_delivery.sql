-- This list says what is installed for delivery, in order. sql/install.sql includes it.

\set checksum '5f72ecc24d2e5f35675ed4a7f45970b5166852f0fcbc6cc9d1755dfb6756a2f7'
\set migration 'V023__model'
\ir ../setup/claim.psql
\if :pending
\ir ../../migrations/V023__model.sql
\endif

-- Reference rows
\ir ../reference/omd_delivery/error_catalogue.sql
\ir ../reference/omd_delivery/constraint_types.sql

-- Model
\ir ../../procedures/omd_delivery/_text.sql
\ir ../../procedures/omd_delivery/_flag.sql
\ir ../../procedures/omd_delivery/_items.sql
\ir ../../procedures/omd_delivery/_names.sql
\ir ../../procedures/omd_delivery/_without_nulls.sql
\ir ../../procedures/omd_delivery/_data_type.sql
\ir ../../procedures/omd_delivery/_type_kind.sql
\ir ../../procedures/omd_delivery/_type_widens.sql
\ir ../../procedures/omd_delivery/_is_value.sql
\ir ../../procedures/omd_delivery/_action_code.sql
\ir ../../procedures/omd_delivery/_open_end.sql
\ir ../../procedures/omd_delivery/_shape_problems.sql
\ir ../../procedures/omd_delivery/_model_nodes.sql
\ir ../../procedures/omd_delivery/_model_objects.sql
\ir ../../procedures/omd_delivery/_model_constraints.sql
\ir ../../procedures/omd_delivery/_content_problems.sql

-- Checks
\ir ../../procedures/omd_delivery/matches.sql
\ir ../../procedures/omd_delivery/delivery_date.sql
\ir ../../procedures/omd_delivery/_check_tokens.sql
\ir ../../procedures/omd_delivery/_spark_text.sql
\ir ../../procedures/omd_delivery/_spark_pattern.sql
\ir ../../procedures/omd_delivery/_check_literal.sql
\ir ../../procedures/omd_delivery/_check_as.sql
\ir ../../procedures/omd_delivery/_check_kind.sql
\ir ../../procedures/omd_delivery/_spark_decimal.sql
\ir ../../procedures/omd_delivery/_check_number.sql
\ir ../../procedures/omd_delivery/_check_expect.sql
\ir ../../procedures/omd_delivery/_check_constant.sql
\ir ../../procedures/omd_delivery/_check_attribute.sql
\ir ../../procedures/omd_delivery/_check_condition.sql
\ir ../../procedures/omd_delivery/_check_choice.sql
\ir ../../procedures/omd_delivery/_check_call.sql
\ir ../../procedures/omd_delivery/_check_part.sql
\ir ../../procedures/omd_delivery/_read_check.sql
\ir ../../procedures/omd_delivery/_check_problem.sql
\ir ../../procedures/omd_delivery/_spark_check.sql
\ir ../../procedures/omd_delivery/_model_problems.sql
\ir ../../procedures/omd_delivery/_setting_problem.sql
\ir ../../procedures/omd_delivery/_require_settings.sql
\ir ../../procedures/omd_delivery/_settings.sql
\ir ../../procedures/omd_delivery/_hold_interface.sql
\ir ../../procedures/omd_delivery/_entity_document.sql
\ir ../../procedures/omd_delivery/_model_document.sql
\ir ../../procedures/omd_delivery/model_document.sql
\ir ../../procedures/omd_delivery/_model_changes.sql
\ir ../../procedures/omd_delivery/_has_rows.sql
\ir ../../procedures/omd_delivery/_has_duplicates.sql
\ir ../../procedures/omd_delivery/_require_no_loss.sql
\ir ../../procedures/omd_delivery/_require_rest.sql
\ir ../../procedures/omd_delivery/_write_keys.sql
\ir ../../procedures/omd_delivery/_write_constraints.sql
\ir ../../procedures/omd_delivery/_write_registry.sql
\ir ../../procedures/omd_delivery/_make_tables.sql
\ir ../../procedures/omd_delivery/_make_indexes.sql
\ir ../../procedures/omd_delivery/undo_update.sql
\ir ../../procedures/omd_delivery/_make_interface.sql
\ir ../../procedures/omd_delivery/_follow_model.sql
\ir ../../procedures/omd_delivery/deploy_model.sql

-- Grants
\ir ../grants/omd_delivery.sql
